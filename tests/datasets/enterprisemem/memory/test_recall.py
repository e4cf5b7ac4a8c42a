"""The memories together: what each condition is given, whatever order sessions finish in."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise

import pytest
from turntide.datasets.embeddings.lexical import Lexical
from turntide.datasets.enterprisemem.conditions import BY_NAME, CONDITIONS, Condition
from turntide.datasets.enterprisemem.memory.episode import Episode
from turntide.datasets.enterprisemem.memory.horizon import SessionOrder
from turntide.datasets.enterprisemem.memory.recall import Memory, Recalled
from turntide.datasets.enterprisemem.memory.working import InProcessWorking
from turntide.datasets.enterprisemem.prompts import prompts

from ....support.episodes import episode, memory

TURNS = 7
SESSIONS = 6
STARTS = [session * TURNS for session in range(SESSIONS)]


def turn_of(session: int, turn: int) -> Episode:
    state: dict[str, str | int] = {"region": f"R{session}"} if turn == 1 else {"year": 2000 + turn} if turn == 2 else {}
    position = STARTS[session] + turn - 1
    return episode(position, f"loans {turn % 3} there", session=f"S{session}", turn=turn, state=state)


async def talk(memory: Memory, order: SessionOrder, session: int, shuffle: random.Random | None) -> list[Recalled]:
    """One session, with the loop given to others at random."""
    recalled: list[Recalled] = []
    for turn in range(1, TURNS + 1):
        for _ in range(shuffle.randrange(5) if shuffle else 0):
            await asyncio.sleep(0)
        horizon = order.horizon(STARTS, session, turn)
        keys = ("region", "year") if turn > 1 else ()
        recalled.append(
            await memory.recall(f"S{session}", turn, horizon, "bird", turn_of(session, turn).question, keys)
        )
        await memory.remember(turn_of(session, turn))
    await memory.end(f"S{session}")
    return recalled


async def sweep(memory: Memory, order: SessionOrder, shuffle: random.Random | None = None) -> list[list[Recalled]]:
    """All sessions, those of a wave together."""
    width = order.wave or SESSIONS
    recalled: list[list[Recalled]] = []
    for first in range(0, SESSIONS, width):
        wave = range(first, min(first + width, SESSIONS))
        recalled += await asyncio.gather(*(talk(memory, order, session, shuffle) for session in wave))
    return recalled


@pytest.mark.parametrize("order", ["sequential", "waves:2", "waves:4", "isolated"])
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.name)
async def test_the_order_in_which_sessions_finish_decides_nothing(condition: Condition, order: str) -> None:
    parsed = SessionOrder.parse(order)
    expected = await sweep(memory(condition), parsed)
    for seed in range(3):
        assert await sweep(memory(condition), parsed, random.Random(seed)) == expected


@pytest.mark.parametrize("order", ["sequential", "waves:2", "isolated"])
async def test_memory_rebuilt_from_records_gives_what_an_uninterrupted_one_does(order: str) -> None:
    parsed = SessionOrder.parse(order)
    expected = await sweep(memory(BY_NAME["D"]), parsed)
    resumed = memory(BY_NAME["D"])
    for session in reversed(range(4)):
        for turn in range(1, TURNS + 1):
            resumed.restore(turn_of(session, turn))
    rest = await asyncio.gather(*(talk(resumed, parsed, session, None) for session in (4, 5) if parsed.wave != 1))
    if parsed.wave == 1:
        rest = [await talk(resumed, parsed, session, None) for session in (4, 5)]
    assert rest == expected[4:]


async def test_each_condition_is_given_its_memories_and_no_others() -> None:
    given = {c.name: (await sweep(memory(c), SessionOrder.parse("sequential")))[3][6] for c in CONDITIONS}
    shape = {name: (len(r.recent), len(r.episodes), len(r.hints)) for name, r in given.items()}
    assert shape == {"A": (0, 0, 0), "B": (2, 0, 0), "B_wm5": (5, 0, 0), "C": (5, 3, 0), "D": (5, 3, 1)}
    assert {name: dict(r.resolved) for name, r in given.items()} == {
        "A": {},
        "B": {},
        "B_wm5": {"year": 2002},
        "C": {"region": "R3", "year": 2002},
        "D": {"region": "R3", "year": 2002},
    }
    assert given["D"].hints[0] in prompts().hints["bird"]


def test_neighbouring_conditions_differ_in_one_thing() -> None:
    parts = [(c.window, c.episodic_top_k, c.semantic_top_k) for c in CONDITIONS]
    assert [sum(a != b for a, b in zip(x, y, strict=True)) for x, y in pairwise(parts)] == [1, 1, 1, 1]
    assert [c.name for c in CONDITIONS if c.shares_episodes] == ["C", "D"]


def test_a_condition_is_not_run_with_other_memories_than_its_own() -> None:
    with pytest.raises(ValueError, match="condition C takes other memories"):
        Memory(BY_NAME["C"], "m/C", InProcessWorking())
    with pytest.raises(ValueError, match="condition B takes other memories"):
        Memory(BY_NAME["B"], "m/B", InProcessWorking(), embedder=Lexical())

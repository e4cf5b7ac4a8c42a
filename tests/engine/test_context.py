"""A dialogue's door to the outside: what it lets through, in which order, and what it refuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import Message
from turntide.engine.calls.retries import Retries
from turntide.engine.context import Door, UnitContext
from turntide.engine.errors import Diverged, Unfinished
from turntide.engine.journal import scan
from turntide.engine.sql.outcome import Outcome
from turntide.engine.unit import Unit

from ..support.provider import ScriptedProvider, bench, fault, good

ASKED = [Message("user", "How many?")]


class CountingExecutor:
    """Answers every statement alike and counts how often it was asked."""

    def __init__(self) -> None:
        self.executed = 0

    async def execute(self, database: str, sql: str) -> Outcome:
        self.executed += 1
        return Outcome(status="ok", columns=("n",), rows=1, excerpt=((self.executed,),))

    async def reference(self, database: str, sql: str) -> Outcome:
        return await self.execute(database, sql)


async def _swallowing(ctx: UnitContext) -> None:
    """Ask as a careless benchmark would."""
    try:
        await ctx.ask("m", ASKED)
    except Exception:
        pytest.fail("an ordinary handler must not see it")


def _unit(key: str = "u") -> Unit:
    return Unit(key=key, item=key, model="m", turns=1)


@asynccontextmanager
async def opened(
    folder: Path, scripted: ScriptedProvider, executor: CountingExecutor | None = None, **more: Any
) -> AsyncGenerator[Door]:
    async with bench(folder, scripted, **more) as setup:
        yield Door(
            journal=setup.journal,
            calls=setup.calls,
            executor=executor or CountingExecutor(),
            routes={"m": setup.route},
            seed=7,
            closing=setup.closing,
        )


async def test_a_replayed_dialogue_finds_its_past_and_sends_and_executes_nothing(tmp_path: Path) -> None:
    scripted, executor = ScriptedProvider(lambda n, body: good(f"SELECT {n}")), CountingExecutor()
    seen: list[tuple[str, Any]] = []
    for _ in range(2):
        async with opened(tmp_path, scripted, executor) as door:
            ctx = UnitContext(_unit(), door)
            answer = await ctx.ask("m", ASKED)
            outcome = await ctx.execute("numbers", answer.text)
            ctx.record(turn=1, sql=answer.text)
            seen.append((answer.text, outcome.excerpt))
    assert seen[0] == seen[1]
    assert (len(scripted.sends), executor.executed) == (1, 1)
    assert sum(line["k"] == "record" for line in scan(tmp_path / "journal.jsonl")) == 1


async def test_another_statement_or_record_at_a_known_place_is_an_error(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: good())
    async with opened(tmp_path, scripted) as door:
        ctx = UnitContext(_unit(), door)
        await ctx.execute("numbers", "SELECT 1")
        ctx.record(turn=1)
    async with opened(tmp_path, scripted) as door:
        with pytest.raises(Diverged, match="step 0"):
            await UnitContext(_unit(), door).execute("numbers", "SELECT 2")
        ctx = UnitContext(_unit(), door)
        await ctx.execute("numbers", "SELECT 1")
        with pytest.raises(Diverged, match="step 1"):
            ctx.record(turn=2)
        with pytest.raises(Diverged, match="another step"):
            await UnitContext(_unit(), door).ask("m", ASKED)


async def test_parallel_questions_go_through_branches_only(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: good(str(n)))
    async with opened(tmp_path, scripted) as door:
        ctx = UnitContext(_unit(), door)
        first = asyncio.create_task(ctx.ask("m", ASKED))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="branch"):
            await ctx.ask("m", ASKED)
        await first
        await asyncio.gather(*(ctx.branch(name).ask("m", ASKED) for name in ("left", "right")))
        with pytest.raises(RuntimeError, match="exists already"):
            ctx.branch("left")
    keys = [(line["b"], line["s"]) for line in scan(tmp_path / "journal.jsonl") if line["k"] == "answer"]
    assert sorted(keys) == [("", 0), ("left", 0), ("right", 0)]


async def test_a_benchmark_cannot_swallow_a_providers_failure(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: fault(500))
    async with opened(tmp_path, scripted, retries=Retries(faults=0)) as door:
        ctx = UnitContext(_unit(), door)
        with pytest.raises(Unfinished):
            await _swallowing(ctx)
        with pytest.raises(Unfinished):
            ctx.record(turn=1, correct=False)
    assert not [line for line in scan(tmp_path / "journal.jsonl") if line["k"] == "record"]


async def test_each_unit_has_a_random_source_of_its_own_that_no_resume_changes(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedProvider(lambda n, body: good())) as door:
        drawn = {key: UnitContext(_unit(key), door).random.random() for key in ("u/0", "u/1", "v/0")}
        assert len(set(drawn.values())) == 3
        assert UnitContext(_unit("u/1"), door).random.random() == drawn["u/1"]


async def test_the_raw_answer_is_kept_beside_what_was_recorded_of_it(tmp_path: Path) -> None:
    raw = "Sure!\n```sql\nSELECT 1\n```\n\ud800 \x00 🌍"
    async with opened(tmp_path, ScriptedProvider(lambda n, body: good(raw))) as door:
        ctx = UnitContext(_unit(), door)
        answer = await ctx.ask("m", ASKED)
        ctx.record(turn=1, sql="SELECT 1")
        assert answer.text == raw
    lines = {line["k"]: line for line in scan(tmp_path / "journal.jsonl")}
    assert lines["answer"]["text"] == raw
    assert lines["record"]["fields"]["sql"] == "SELECT 1"

"""The counts that prove what was asked twice and what was paid twice."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from turntide.adapters.simulated.tally import Ledger

if TYPE_CHECKING:
    from .conftest import Start


@dataclasses.dataclass
class Seen:
    requests: int = 0
    answers: int = 0


class LedgerMachine(RuleBasedStateMachine):
    """The ledger against a plain account of every call."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger(lambda: 0.0)
        self.seen: dict[bytes, Seen] = {}
        self.after_answer = 0

    @rule(call=st.integers(0, 5), answered=st.booleans())
    def request(self, call: int, answered: bool) -> None:
        key = bytes([call])
        seen = self.seen.setdefault(key, Seen())
        attempt, was_answered = self.ledger.arrive(key, keyed=True)
        self.after_answer += was_answered
        seen.requests += 1
        assert (attempt, was_answered) == (seen.requests, seen.answers > 0)
        if answered:
            self.ledger.answer(key, keyed=True)
            seen.answers += 1

    @invariant()
    def counts_add_up(self) -> None:
        assert self.ledger.counts() == {
            "keys": len(self.seen),
            "repeats": sum(seen.requests - 1 for seen in self.seen.values()),
            "repeats_after_answer": self.after_answer,
            "paid_twice": sum(max(0, seen.answers - 1) for seen in self.seen.values()),
            "early": 0,
        }


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=30, stateful_step_count=20)


def test_who_returns_before_the_time_it_was_told_is_counted_once() -> None:
    now = 0.0
    ledger = Ledger(lambda: now)
    ledger.arrive(b"a", keyed=True)
    ledger.told_to_wait(b"a", 10)
    now = 9.0
    ledger.arrive(b"b", keyed=True)
    ledger.arrive(b"a", keyed=True)
    ledger.arrive(b"a", keyed=True)
    ledger.told_to_wait(b"a", 10)
    now = 19.0
    ledger.arrive(b"a", keyed=True)
    assert ledger.early == 1


async def test_a_repeat_is_answered_alike_and_counted(start: Start) -> None:
    client = await start()
    first, again, other = [await client.ask(key=key) for key in ("a", "a", "b")]
    assert first.content == again.content == other.content
    stats = await client.stats()
    assert (stats["requests"], stats["keys"], stats["repeats"]) == (3, 2, 1)
    assert (stats["repeats_after_answer"], stats["paid_twice"]) == (1, 1)
    assert stats["by_status"] == {"200": 3}
    assert stats["tokens"] == {"input": 6, "cached": 0, "output": 6, "reasoning": 0}


async def test_a_retry_after_an_error_is_a_repeat_that_nobody_pays_twice(start: Start) -> None:
    client = await start(faults={"500": 0.5})
    for number in range(20):
        while (await client.ask(key=str(number))).status_code != 200:
            pass
    stats = await client.stats()
    assert stats["requests"] == 20 + stats["repeats"] == 20 + stats["by_fault"]["500"]
    assert (stats["answered"], stats["paid_twice"]) == (20, 0)


async def test_calls_in_flight_are_counted_now_and_at_most_by_model(start: Start) -> None:
    client = await start(latency=0.1)
    await asyncio.gather(*(client.ask(str(number), model=f"echo?seed={number % 2}") for number in range(6)))
    stats = await client.stats()
    assert stats["in_flight"] == {"now": 0, "most": 6}
    assert {name: count["in_flight"]["most"] for name, count in stats["by_model"].items()} == {
        "echo?seed=0": 3,
        "echo?seed=1": 3,
    }


async def test_a_reset_forgets_everything_but_what_is_in_flight(start: Start) -> None:
    client = await start(limits={"requests_per_minute": 2})
    await client.ask(key="a")
    pending = asyncio.create_task(client.ask(key="b", model="echo?latency=2"))
    while (await client.stats())["in_flight"]["now"] == 0:
        pass
    await client.http.post(client.base_url.removesuffix("/v1") + "/reset")
    stats = await client.stats()
    assert (stats["requests"], stats["keys"], stats["in_flight"]) == (0, 0, {"now": 1, "most": 1})
    assert (await pending).status_code == 200
    assert (await client.stats())["in_flight"]["now"] == 0
    assert [(await client.ask(key=key)).status_code for key in "cd"] == [200, 200]

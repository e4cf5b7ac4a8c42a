"""When a batch leaves, and what it holds at most, on a clock that jumps."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from turntide.adapters.base import WireRequest
from turntide.engine.calls.batching import gate as gate_module
from turntide.engine.calls.batching.gate import PATIENCE, QUIET, Gate, Parcel, packed
from turntide.engine.calls.batching.lines import BatchedCall
from turntide.engine.calls.budget import Budget
from turntide.engine.calls.turnstile import Purse
from turntide.engine.errors import Unfinished
from turntide.engine.journal import Key
from turntide.engine.progress import Progress

from ....support.time import run_jumping


@dataclass
class Api:
    most_items: int = 100
    most_bytes: int = 10_000


@dataclass
class Stub:
    """As much of a lane as the gate looks at."""

    api: Api
    stopped: Unfinished | None = None

    @property
    def lane(self) -> Any:
        return gate_module.Lane(self, self)  # pyright: ignore[reportArgumentType]


def call(number: int, usd: str = "0") -> BatchedCall:
    return BatchedCall(f"c{number}", Key(f"u{number}"), 1, "h", Decimal(usd))


def parcel(number: int, body: bytes = b"{}", path: str = "/a") -> Parcel:
    return Parcel(call(number), WireRequest(path, body), 0.0)


class Sent:
    """A gate over one lane, and what it let go: (seconds, ids)."""

    def __init__(self, running: int, cap: str | None = None, api: Api | None = None) -> None:
        self.progress, self.budget = Progress(), Budget(cap=Decimal(cap) if cap else None)
        self.progress.of("m").running = running
        self.let_go: list[tuple[float, list[str]]] = []
        self.landing = False
        self.gate = Gate(self.progress, Purse(self.budget), self._send, lambda: self.landing)
        self.gate.lanes["m"] = Stub(api or Api()).lane

    def _send(self, lane: Any, parcels: list[Parcel]) -> None:
        self.let_go.append((asyncio.get_running_loop().time(), [each.call.id for each in parcels]))

    async def ask(self, each: BatchedCall) -> Any:
        with self.gate.asking(each.key.unit):
            self.gate.enter("m", each, WireRequest("/a", b"{}"))
            return await each.wait()


def test_a_batch_leaves_when_every_dialogue_waits_and_not_before() -> None:
    async def main() -> None:
        sent = Sent(running=2)
        first = asyncio.ensure_future(sent.ask(call(1)))
        await asyncio.sleep(100)
        assert sent.let_go == []
        second = asyncio.ensure_future(sent.ask(call(2)))
        await asyncio.sleep(3 * QUIET)
        assert [ids for _, ids in sent.let_go] == [["c1", "c2"]]
        first.cancel()
        second.cancel()

    run_jumping(main())


def test_a_batch_leaves_after_its_patience_although_a_dialogue_is_at_work() -> None:
    async def main() -> None:
        sent = Sent(running=2)
        asking = asyncio.ensure_future(sent.ask(call(1)))
        await asyncio.sleep(PATIENCE + 2 * QUIET)
        ((when, ids),) = sent.let_go
        assert ids == ["c1"]
        assert PATIENCE < when < PATIENCE + 2 * QUIET
        asking.cancel()

    run_jumping(main())


def test_a_full_batch_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_module, "MOST_CALLS", 3)

    async def main() -> None:
        sent = Sent(running=9)
        asking = [asyncio.ensure_future(sent.ask(call(number))) for number in range(4)]
        await asyncio.sleep(2 * QUIET)
        assert [ids for _, ids in sent.let_go] == [["c0", "c1", "c2"], ["c3"]]
        for each in asking:
            each.cancel()

    run_jumping(main())


def test_nothing_leaves_while_results_are_taken_in() -> None:
    async def main() -> None:
        sent = Sent(running=1)
        sent.landing = True
        asking = asyncio.ensure_future(sent.ask(call(1)))
        await asyncio.sleep(10)
        assert sent.let_go == []
        sent.landing = False
        await asyncio.sleep(2 * QUIET)
        assert len(sent.let_go) == 1
        asking.cancel()

    run_jumping(main())


def test_as_many_calls_leave_as_the_cap_reaches_for_and_the_rest_when_money_comes_back() -> None:
    async def main() -> None:
        sent = Sent(running=3, cap="2")
        asking = [asyncio.ensure_future(sent.ask(call(number, "1"))) for number in range(3)]
        await asyncio.sleep(3 * QUIET)
        assert [ids for _, ids in sent.let_go] == [["c0", "c1"]]
        assert sent.budget.committed == 2
        sent.budget.settle(Decimal(1), Decimal("0.1"))
        await asyncio.sleep(2 * QUIET)
        assert [ids for _, ids in sent.let_go][1:] == []
        sent.budget.settle(Decimal(1), Decimal("0.1"))
        await asyncio.sleep(2 * QUIET)
        assert [ids for _, ids in sent.let_go][1:] == [["c2"]]
        for each in asking:
            each.cancel()

    run_jumping(main())


def test_a_call_that_will_never_fit_ends_the_run() -> None:
    async def main() -> None:
        sent = Sent(running=1, cap="1")
        with pytest.raises(Unfinished, match="the budget is reached"):
            await sent.ask(call(1, "2"))

    run_jumping(main())


def test_who_waits_for_a_stopped_model_or_an_ending_run_is_turned_away() -> None:
    async def main() -> None:
        sent = Sent(running=1)
        lane: Any = sent.gate.lanes["m"]
        lane.route.stopped = Unfinished("model", "m stopped: no key")
        with pytest.raises(Unfinished, match="no key"):
            await sent.ask(call(1))
        lane.route.stopped = None
        asyncio.get_running_loop().call_later(0.01, sent.gate.close, Unfinished("draining", "interrupted"))
        with pytest.raises(Unfinished, match="interrupted"):
            await sent.ask(call(2))

    run_jumping(main())


def test_a_batch_holds_one_path_and_no_more_than_the_provider_takes() -> None:
    courier: Any = Stub(Api(most_items=2, most_bytes=1_000))
    parcels = [parcel(0), parcel(1, path="/b"), parcel(2), parcel(3), parcel(4, b"x" * 500), parcel(5, b"x" * 400)]
    groups = [[each.call.id for each in group] for group in packed(parcels, courier)]
    assert groups == [["c0", "c2"], ["c3", "c4"], ["c5"], ["c1"]]

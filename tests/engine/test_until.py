"""A moment by which a run has ended, on a clock that is moved by hand."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from turntide.engine.closing import Closing
from turntide.engine.until import ENDING, LOOK, Until

from ..support.time import HandClock

MOMENT = datetime(2026, 12, 1, 6, 30, tzinfo=UTC)


async def watched(
    clock: HandClock, lead: float, naps: list[float], *, suspended: float = 0.0, said: str = "might not have sufficed"
) -> float:
    """Watch until the run is closing and has `said` why; return the seconds that were left then."""
    until, closing = Until(MOMENT, clock), Closing()

    async def nap(seconds: float) -> None:
        naps.append(seconds)
        clock.pass_(seconds + (suspended if len(naps) == 3 else 0.0))
        await asyncio.sleep(0)

    await until.watch(closing, lambda: lead, nap)
    assert closing.reason
    assert closing.reason.why == "until"
    assert said in closing.reason.message
    return until.left()


async def test_a_run_stops_asking_when_calls_need_the_rest_of_its_time() -> None:
    naps: list[float] = []
    left = await watched(HandClock(MOMENT.timestamp() - 9 * 3600), 40.0, naps)
    assert left == 40.0
    assert sum(naps) == 9 * 3600 - ENDING - 40.0
    assert max(naps) == LOOK


async def test_a_machine_that_slept_through_the_moment_stops_at_its_next_look() -> None:
    naps: list[float] = []
    left = await watched(HandClock(MOMENT.timestamp() - 3600), 40.0, naps, suspended=8 * 3600, said="its time is over")
    assert len(naps) == 3
    assert left < 0


async def test_a_moment_that_is_too_near_ends_the_run_at_once() -> None:
    naps: list[float] = []
    await watched(HandClock(MOMENT.timestamp() - 30), 40.0, naps, said="the 30 s that were left")
    assert naps == []

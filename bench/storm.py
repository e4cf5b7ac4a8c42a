"""A crowd at its worst and at its best: 10,000 calls that all fail, and 80 slots that should never stand empty."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import uvloop
from turntide.adapters.base import Message
from turntide.engine.calls.limits.account import AccountLimits
from turntide.engine.context import Door
from turntide.engine.errors import Unfinished
from turntide.engine.spec import Settings

from .engine import MODEL, context, opened
from .figures import Figure
from .folders import temporary
from .server import answering

CALLS: Final = 10_000
IN_FLIGHT: Final = 1_000
SLOTS: Final = 80
LATENCY: Final = 0.05
TURNS: Final = 60
RATE: Final = 100_000_000
"""Requests a minute: a stated limit that is never felt, for without one the calls in flight grow from 16."""

TICK: Final = 0.005
"""Seconds that the loop is asked to sleep: what it oversleeps is its lag."""

ATTEMPTS: Final = 3
"""The best of so many counts: other work on the machine can only add."""


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the loop's lag in a storm of failures, and how many of the slots are busy, from grant to journalled."""
    attempts, calls, turns = (1, 2 * IN_FLIGHT, 6) if quick else (ATTEMPTS, CALLS, TURNS)
    with answering(LATENCY, status=500) as url:
        lag = min(_in_folder(_storm, url, calls) for _ in range(attempts))
    yield Figure(name=f"loop lag, 99th of 100, {calls:,} failing calls", value=lag, unit="s", at_most=0.05)
    with answering(LATENCY) as url:
        busy = max(_in_folder(_slots, url, turns) for _ in range(attempts))
    yield Figure(name=f"busy of {SLOTS} slots, {LATENCY * 1e3:.0f} ms a call", value=100 * busy, unit="%", at_least=95)


def _in_folder(side: Callable[[Door, int], Awaitable[float]], url: str, count: int) -> float:
    flight = IN_FLIGHT if side is _storm else SLOTS
    settings = Settings(in_flight=flight, retries=1, backoff=0.05, rpm=RATE)

    async def main() -> float:
        async with opened(settings, url, Path(folder)) as door:
            return await side(door, count)

    with temporary() as folder:
        return uvloop.run(main())


async def _storm(door: Door, calls: int) -> float:
    """Return the lag of the loop, in seconds, that one look in a hundred exceeds while all calls fail."""
    lags = list[float]()
    storm = asyncio.gather(*(_fail(door, number, calls // IN_FLIGHT) for number in range(IN_FLIGHT)))
    await asyncio.sleep(10 * LATENCY)  # connections are open
    watching = asyncio.create_task(_look(TICK, lags.append))
    await asyncio.wait([storm])
    watching.cancel()
    return statistics.quantiles(lags, n=100)[-1]


async def _fail(door: Door, number: int, dialogues: int) -> None:
    """Lead one dialogue after another, each of one question that nobody answers."""
    for later in range(dialogues):
        with suppress(Unfinished):
            await context(door, f"storm-{number}-{later}", 1).ask(MODEL, [Message("user", "How many?")])


async def _slots(door: Door, turns: int) -> float:
    """Return the mean share of the slots that are taken while twice as many dialogues have another question."""
    limits = door.routes[MODEL].turnstile.limits
    assert isinstance(limits, AccountLimits)
    flight = limits.flight
    taken = list[float]()
    dialogues = asyncio.gather(*(_talk(door, number, turns) for number in range(2 * SLOTS)))
    await asyncio.sleep(10 * LATENCY)  # connections are open
    watching = asyncio.create_task(_look(TICK, lambda _: taken.append(flight.now / SLOTS)))
    await asyncio.wait([dialogues])
    watching.cancel()
    return statistics.fmean(taken[: -int(2 * LATENCY / TICK)])  # without the last ones, when nobody waits any more


async def _talk(door: Door, number: int, turns: int) -> None:
    dialogue = context(door, f"slots-{number}", turns)
    for turn in range(turns):
        await dialogue.ask(MODEL, [Message("user", f"How many? {turn}")])


async def _look(every: float, seen: Callable[[float], None]) -> None:
    """Sleep again and again, and hand on how late each waking was."""
    clock = asyncio.get_running_loop().time
    while True:
        due = clock() + every
        await asyncio.sleep(every)
        seen(max(0.0, clock() - due))

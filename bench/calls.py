"""What the engine adds to a call: its CPU time against bare loops with the same server, in alternating rounds.

A call of the engine goes the whole way of a sweep: context, journal, queue, limits, budget, durable intent, transport,
journal with fdatasync, settlement. The bare loop does what cannot be left out: it builds the same body, sends it over
the same transport, reads the reply, and writes a line.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import uvloop
from turntide.adapters.simulated import SimulatedServer

from .figures import Figure, Side, median_ratio, rounds
from .loops import TURNS, Loop, Talk, aiohttp_loop, bare_loop, engine_loop
from .scratch import scratch

AT_MOST: Final = {20: 1.5, 1000: 1.3, 5000: 1.3}
"""By calls in flight, the most that the engine may cost over the bare loop."""

CALLS: Final = 10_000
LOOPS: Final[dict[str, Loop]] = {"bare": bare_loop, "engine": engine_loop, "aiohttp": aiohttp_loop}


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the CPU time of a call over the bare loop's, for the engine and for plain aiohttp, by calls in flight."""
    with SimulatedServer.start() as server:
        for flight, at_most in AT_MOST.items():
            # Whole waves, so that the calls in flight are as many as they should be to the end.
            dialogues = flight * max(1, (CALLS // 3 if quick else CALLS) // TURNS // flight)
            sides: dict[str, Side] = {
                name: partial(cpu_per_call, loop, server.base_url, flight, dialogues) for name, loop in LOOPS.items()
            }
            costs = rounds(sides, quick)
            at = f"{flight:,} in flight"
            ratio = median_ratio(costs["engine"], costs["bare"])
            yield Figure(name=f"engine over bare loop, {at}", value=ratio, unit="×", at_most=at_most, ratio=True)
            ratio = median_ratio(costs["aiohttp"], costs["bare"])
            yield Figure(name=f"plain aiohttp over bare loop, {at}", value=ratio, unit="×")
            for name in LOOPS:
                yield Figure(name=f"CPU per call, {name}, {at}", value=min(costs[name]), unit="µs")


def cpu_per_call(loop: Loop, url: str, flight: int, dialogues: int) -> float:
    """Return the µs of CPU time that this process, with all its threads, spends on each call of so many dialogues."""
    with scratch() as folder:
        return uvloop.run(_cpu_per_call(loop, url, flight, dialogues, folder))


async def _cpu_per_call(loop: Loop, url: str, flight: int, dialogues: int, folder: Path) -> float:
    async with loop(url, flight, folder) as talk:
        # Connections are opened, and the engine's adaptive bound grows, before the clock starts.
        await _talk(talk, flight, range(flight))
        began = time.process_time()
        await _talk(talk, flight, range(flight, flight + dialogues))
        return (time.process_time() - began) / (dialogues * TURNS) * 1e6


async def _talk(talk: Talk, flight: int, dialogues: range) -> None:
    left = iter(dialogues)

    async def worker() -> None:
        for number in left:
            await talk(number)

    await asyncio.gather(*(worker() for _ in range(flight)))

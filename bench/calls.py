"""What the engine adds to a call: its CPU time against bare loops with the same server, in alternating rounds.

A call of the engine goes the whole way of a sweep: context, journal, queue, limits, budget, durable intent, transport,
journal with fdatasync, settlement. The bare loop does what cannot be left out: it builds the same body, sends it
through pyreqwest's transport for httpx, reads the reply, and writes a line. The engine's own transport is leaner than
that one: the loop over it alone says what the rest of a call's way costs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import uvloop

from .figures import Figure, Side, median_ratio, rounds
from .folders import temporary
from .loops import Loop, Talk, aiohttp_loop, bare_loop, engine_loop, transport_loop
from .server import answering

LOOPS: Final[dict[str, Loop]] = {
    "bare loop": bare_loop,
    "engine": engine_loop,
    "our transport alone": transport_loop,
    "plain aiohttp": aiohttp_loop,
}
WARM_UP: Final = 2
"""Turns of every dialogue before the clock starts: connections are opened, and the engine's adaptive bound grows."""

ANSWERS_PER_SECOND: Final = 10_000
"""More than any client here can take, so that the calls in flight wait for the server and for nothing else."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many dialogues at once, each of so many turns; the most that the engine may cost over the bare loop."""

    dialogues: int
    turns: int
    at_most: float


CROWDS: Final = (
    Crowd(20, 150, at_most=1.5),
    Crowd(100, 40, at_most=1.5),
    Crowd(1000, 5, at_most=1.3),
    Crowd(5000, 1, at_most=1.3),
)
QUICK: Final = (Crowd(20, 10, at_most=1.5),)


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the CPU time of a call over the bare loop's, for the engine and for other loops, by calls in flight."""
    for crowd in QUICK if quick else CROWDS:
        with answering(crowd.dialogues / ANSWERS_PER_SECOND) as url:
            sides: dict[str, Side] = {name: partial(cpu_per_call, loop, url, crowd) for name, loop in LOOPS.items()}
            costs = rounds(sides, quick)
        at = f"{crowd.dialogues:,} in flight"
        ratio = median_ratio(costs["engine"], costs["bare loop"])
        yield Figure(name=f"engine over bare loop, {at}", value=ratio, unit="×", at_most=crowd.at_most, ratio=True)
        for name in list(LOOPS)[2:]:
            ratio = median_ratio(costs[name], costs["bare loop"])
            yield Figure(name=f"{name} over bare loop, {at}", value=ratio, unit="×")
        for name in LOOPS:
            yield Figure(name=f"CPU per call, {name}, {at}", value=min(costs[name]), unit="s")


def cpu_per_call(loop: Loop, url: str, crowd: Crowd) -> float:
    """Return the seconds of CPU time that this process, with all its threads, spends on each call."""
    with temporary() as folder:
        return uvloop.run(_cpu_per_call(loop, url, crowd, Path(folder)))


async def _cpu_per_call(loop: Loop, url: str, crowd: Crowd, folder: Path) -> float:
    async with loop(url, crowd.dialogues, folder) as talk:
        await _talk(talk, "warm-up", crowd.dialogues, WARM_UP)
        began = time.process_time()
        await _talk(talk, "measured", crowd.dialogues, crowd.turns)
        return (time.process_time() - began) / (crowd.dialogues * crowd.turns)


async def _talk(talk: Talk, name: str, dialogues: int, turns: int) -> None:
    await asyncio.gather(*(talk(f"{name}-{number}", turns) for number in range(dialogues)))

"""How soon a run goes on: a finished sweep of 35,000 turns, and a journal of a million lines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Final

from turntide.engine.journal import Fields, Journal, scan

from .figures import Figure, median_ratio, rounds
from .folders import temporary
from .opening import opened_apart
from .processes import TURNTIDE, timed
from .sweep import finished

MILLION: Final = 1_000_000
GROUP: Final = 10_000
NOWHERE: Final = {"TURNTIDE_SIM_BASE_URL": "http://127.0.0.1:9/v1"}
"""No provider answers there: a resume that sent anything would fail."""


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the seconds to resume, and what it takes to open a long journal."""
    done = finished(quick)
    seconds = min(timed([*TURNTIDE, "resume", str(done.folder)], NOWHERE).wall for _ in range(3))
    yield Figure(name=f"resume of {done.turns:,} finished turns, best of three", value=seconds, unit="s", at_most=2)
    lines = MILLION // 10 if quick else MILLION
    with temporary() as folder:
        short, long = Path(folder) / "short.jsonl", Path(folder) / "long.jsonl"
        asyncio.run(_build(short, done.folder / "journal.jsonl", lines // 10))
        sides = {way: lambda way=way: opened_apart(way, short).seconds for way in ("journal", "orjson")}
        costs = rounds(sides, quick)
        ratio = median_ratio(costs["journal"], costs["orjson"])
        yield Figure(name="opening a journal over reading it with orjson, CPU", value=ratio, unit="×", ratio=True)
        asyncio.run(_build(long, done.folder / "journal.jsonl", lines))
        ready = opened_apart("journal", long)
    yield Figure(name=f"ready with a journal of {lines:,} lines, CPU", value=ready.seconds, unit="s", at_most=10)
    yield Figure(name=f"memory with a journal of {lines:,} lines", value=ready.megabytes, unit="MB", at_most=250)


async def _build(path: Path, run: Path, lines: int) -> None:
    """Write a journal of so many lines: a real one over and over, under other units' names."""
    with Journal.open(path) as journal:
        for number, line in enumerate(islice(_renamed(run), lines), 1):
            journal.append(line)
            if number % GROUP == 0:
                await journal.durable()
        await journal.durable()


def _renamed(run: Path) -> Iterator[Fields]:
    for copy in count():
        for line in scan(run):
            yield {**line, "u": f"{copy}/{line['u']}"} if "u" in line else line

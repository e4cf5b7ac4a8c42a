"""`python -m bench.hostile [WORD ...]`: fire every attack of the tests at a worker under a run's own bounds, and print
what each came to.

Exit code 1 when one was answered late, left a file, a process or a changed database behind, took more memory than its
worker may, or kept the next statement waiting.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import uvloop
from turntide.engine.sql.bounds import SqlLimits
from turntide.engine.sql.pool import GRACE, SqlPool

from tests.support.hostile import REPLACED, Aftermath, Attack, Range, attacks, make_shop, make_trap, most_memory

from . import recorded
from .folders import SPARE, apart

DEADLINE: Final = 2.0
"""Seconds. A run's own 30 s would make the table an hour long, and change nothing but the times."""

OVERSHOOT: Final = 0.05
"""Seconds beyond deadline and grace within which every statement is answered."""

ATTEMPTS: Final = 3
"""A time over its bound counts when it is the best of so many: other work on the machine can only add."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fire, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description="Hostile SQL; see docs/sql.md.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only attacks whose line holds one of these")
    asked = parser.parse_args(arguments)
    chosen = [attack for attack in attacks() if _is_meant(attack, asked.words)]
    limits = SqlLimits()
    print(*recorded.circumstances().values(), sep=" · ")
    print(f"{len(chosen)} attacks, {DEADLINE:g} s each, {limits.memory // 2**20} MB beyond an idle worker\n")
    print(f"{'outcome':9} {'answered':>9} {'next':>7} {'memory':>8}  attack")
    with apart() as folder:
        bad = uvloop.run(_fire_all(chosen, limits, folder))
    print(f"\n{len(chosen) - bad} of {len(chosen)} came to their outcome in time and left nothing behind.")
    return 1 if bad else 0


def _is_meant(attack: Attack, words: Sequence[str]) -> bool:
    return not words or any(word in f"{attack.status}: {attack.name}" for word in words)


async def _fire_all(chosen: Sequence[Attack], limits: SqlLimits, folder: Path) -> int:
    """Fire all, print a line for each, and return how many of them broke a promise."""
    bad = 0
    shop = make_shop(folder / "shop.sqlite")
    async with SqlPool(workers=1, limits=limits) as pool:
        place = Range(pool, [folder / SPARE, Path(os.curdir)])
        for number, attack in enumerate(chosen):  # each trap under a name of its own: files are taken for immutable
            target = make_trap(folder / f"trap-{number}.sqlite", attack.script) if attack.script else shop
            after, broken = await _fire(place, target, attack, limits)
            bad += bool(broken)
            print(_line(attack, after, broken), flush=True)
    return bad


async def _fire(place: Range, target: Path, attack: Attack, limits: SqlLimits) -> tuple[Aftermath, list[str]]:
    """Return what an attack came to and the promises it broke, the times at their best of three."""
    after = await place.fire(target, attack.sql, DEADLINE)
    for attempt in range(1, ATTEMPTS):
        if any(_late(after)):
            after = await place.fire(target, attack.sql + " " * attempt, DEADLINE)
    return after, [*_late(after), *_left(after, limits)]


def _late(after: Aftermath) -> Iterator[str]:
    if after.seconds > DEADLINE + GRACE + OVERSHOOT:
        yield "ANSWERED LATE"
    if after.ready > REPLACED:
        yield "NEXT ONE LATE"


def _left(after: Aftermath, limits: SqlLimits) -> Iterator[str]:
    if after.memory > most_memory(limits):
        yield "MEMORY"
    if after.changed:
        yield "LEFT SOMETHING BEHIND"
    if not after.at_rest:
        yield "PROCESSES LEFT"
    if "died" in after.execution.outcome.message:
        yield "CRASHED"


def _line(attack: Attack, after: Aftermath, broken: Sequence[str]) -> str:
    times = f"{after.seconds:7.3f} s {after.ready * 1e3:4.0f} ms {after.memory / 2**20:5.0f} MB"
    said = f"{after.execution.outcome.status:9} {times}  {attack.name}"
    return "  ".join([said, *broken])


if __name__ == "__main__":
    sys.exit(main())

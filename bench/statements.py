"""SQL through the guarded workers against the same on a bare connection, and what the cache of gold results saves."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import uvloop
from turntide.datasets.enterprisemem.benchmark import benchmark
from turntide.engine.sql.gold import GoldCache
from turntide.engine.sql.pool import SqlPool
from turntide.engine.unit import Reference

from .figures import Figure, median_ratio, rounds
from .folders import temporary

AT_ONCE: Final = 64
DEADLINE: Final = 30.0
QUICK: Final = 50


def measure(quick: bool) -> Iterator[Figure]:
    """Yield statements per second, and the time of all gold statements without and with the cache.

    The statements are the benchmark's own gold ones, each once. The workers compare every result as well: a digest for
    each of the named comparisons. The bare connection only fetches.
    """
    gold, databases = uvloop.run(_gold())
    gold = gold[:QUICK] if quick else gold
    sides = {
        "guarded": lambda: uvloop.run(_guarded(gold, databases)),
        "bare": lambda: _bare(gold, databases),
    }
    costs = rounds(sides, quick)
    for name, label in (("guarded", "through the workers, compared"), ("bare", "on one bare connection, fetched")):
        yield Figure(name=f"statements {label}", value=len(gold) / min(costs[name]), unit="/s")
    ratio = median_ratio(costs["guarded"], costs["bare"])
    yield Figure(name="time through the workers over a bare connection", value=ratio, unit="×", ratio=True)
    with temporary() as folder:
        cold = uvloop.run(_cached(gold, databases, Path(folder)))
        warm = uvloop.run(_cached(gold, databases, Path(folder)))
    yield Figure(name=f"{len(gold):,} gold statements, first run", value=cold, unit="s")
    yield Figure(name=f"{len(gold):,} gold statements, every later run", value=warm, unit="s")


async def _gold() -> tuple[list[Reference], dict[str, Path]]:
    """Return the distinct gold statements, and the databases; both are built on a machine's first run."""
    async with benchmark.open({}, seed=0, limit=None) as experiment:
        return sorted({(r.database, r.sql): r for r in experiment.references()}.values()), dict(experiment.databases)


async def _guarded(gold: Sequence[Reference], databases: dict[str, Path]) -> float:
    async with SqlPool() as pool:
        slots = asyncio.Semaphore(AT_ONCE)

        async def run(reference: Reference) -> None:
            async with slots:
                execution = await pool.execute(databases[reference.database], reference.sql, deadline=DEADLINE)
            assert execution.outcome.status == "ok", execution.outcome.message

        began = time.perf_counter()
        await asyncio.gather(*map(run, gold))
        return time.perf_counter() - began


def _bare(gold: Sequence[Reference], databases: dict[str, Path]) -> float:
    began = time.perf_counter()
    for name, path in databases.items():
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            for reference in gold:
                if reference.database == name:
                    connection.execute(reference.sql).fetchall()
    return time.perf_counter() - began


async def _cached(gold: Sequence[Reference], databases: dict[str, Path], folder: Path) -> float:
    began = time.perf_counter()
    async with SqlPool() as pool:
        cache = GoldCache(pool, folder)
        await asyncio.gather(*(cache.reference(databases[reference.database], reference.sql) for reference in gold))
    return time.perf_counter() - began

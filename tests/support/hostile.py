"""Attacks on the SQL workers, and all that is measured of one: for the tests, and for `python -m bench.hostile`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from turntide.engine.sql.bounds import SqlLimits
from turntide.engine.sql.outcome import Execution
from turntide.engine.sql.pool import SqlPool
from turntide.engine.sql.worker import CONNECTIONS, STACK
from turntide.engine.system.digests import file_digest

from .cases import blocks, expanded, headed
from .processes import children_of, descendants

LOOK_EVERY = 0.005
"""Seconds between two looks at a worker's memory."""

IDLE = 48 * 2**20
"""Resident memory of a worker that has nothing to do, at most, in bytes."""

REPLACED = 0.25
"""Seconds within which a worker is there again after any attack."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile statement; `script` makes the database that it is asked of, where that is a trap itself."""

    name: str
    status: str
    sql: str
    script: str = ""


def attacks() -> Iterator[Attack]:
    """Yield every attack of the fixtures."""
    for block in blocks("sql/hostile.sql"):
        head, sql = headed(block)
        status, _, name = head.partition(": ")
        yield Attack(name, status, expanded(sql))
    for block in blocks("sql/hostile_databases.sql"):
        head, rest = headed(block)
        status, _, name = head.partition(": ")
        script, _, sql = rest.partition("\n-- asked\n")
        yield Attack(name, status, sql, expanded(script))


def make_shop(path: Path) -> Path:
    """Make the database that the attacks are about: `item (id, name, price)` with 400 rows."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL)")
        connection.executemany("INSERT INTO item VALUES (?, ?, ?)", [(n, f"item {n}", n / 4) for n in range(400)])
    return path


def make_trap(path: Path, script: str) -> Path:
    """Make the database of an attack that brings its own."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"PRAGMA synchronous = OFF; {script}")
        connection.commit()
    return path


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that a statement must leave as it was: the database's bytes, the files in `folders`, our threads."""

    digest: str
    files: frozenset[Path]
    threads: int

    @classmethod
    def of(cls, database: Path, folders: Iterable[Path]) -> Surroundings:
        files = frozenset(path for folder in {database.parent, *folders} for path in folder.iterdir())
        return cls(file_digest(database), files, threading.active_count())


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What an attack came to. `seconds` until it was answered, `ready` until the next statement was; `memory` in bytes
    is the most that a worker held. `changed` and `at_rest` say what it left."""

    execution: Execution
    seconds: float
    ready: float
    memory: int
    changed: bool
    at_rest: bool


class Range:
    """A place to shoot at: a pool of one worker, and the folders in which no file may appear."""

    def __init__(self, pool: SqlPool, folders: Iterable[Path]) -> None:
        self._pool = pool
        self._folders = tuple(folders)
        self._shots = 0

    async def fire(self, database: Path, sql: str, deadline: float) -> Aftermath:
        """Execute `sql` and measure all there is to measure, until the pool is at rest again."""
        self._shots += 1
        before = Surroundings.of(database, self._folders)
        async with _Peak(self._pool) as peak:
            execution, seconds = await _timed(self._pool, database, sql, deadline)
            _, ready = await _timed(self._pool, database, f"SELECT {self._shots} AS shot", 10.0)
        at_rest = await _becomes(lambda: _is_at_rest(self._pool))
        changed = Surroundings.of(database, self._folders) != before
        return Aftermath(execution, seconds, ready, peak.most, changed, at_rest)


def most_memory(limits: SqlLimits) -> int:
    """Return the bytes that a worker may come to hold: idle, what its bound grants, and its threads' stacks."""
    return IDLE + limits.memory + CONNECTIONS * STACK


class _Peak:
    """The most memory that any worker of a pool held meanwhile, in bytes; one that was killed counts as last seen."""

    def __init__(self, pool: SqlPool) -> None:
        self.most = 0
        self._pool = pool

    async def __aenter__(self) -> _Peak:
        for pid in self._pool.statistics().workers:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # forgets the peak so far
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()
        self._look()

    async def _watch(self) -> None:
        while True:
            self._look()
            await asyncio.sleep(LOOK_EVERY)

    def _look(self) -> None:
        for pid in self._pool.statistics().workers:
            with contextlib.suppress(OSError, IndexError):  # gone meanwhile
                status = Path(f"/proc/{pid}/status").read_text()
                self.most = max(self.most, int(status.split("VmHWM:")[1].split()[0]) * 1024)


async def _timed(pool: SqlPool, database: Path, sql: str, deadline: float) -> tuple[Execution, float]:
    began = time.perf_counter()
    execution = await pool.execute(database, sql, deadline=deadline)
    return execution, time.perf_counter() - began


def _is_at_rest(pool: SqlPool) -> bool:
    """Return whether the pool has its one worker again, and its fork server no other child."""
    workers = set(pool.statistics().workers)
    return len(workers) == 1 and any(children == workers for children in children_of(descendants(os.getpid())))


async def _becomes(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.002)
    return True

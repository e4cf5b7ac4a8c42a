"""Gold results: executed once, under a long limit, and kept on disk for every run to come."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import zlib
from hashlib import blake2b
from pathlib import Path

import orjson

from . import comparison
from .bounds import GOLD_DEADLINE
from .databases import Content, Stamp
from .guards import fingerprint
from .outcome import Outcome
from .pool import SqlPool


class GoldCache:
    """Outcomes of trusted statements by all that decides them.

    The key is the content of the database, the SQL, and the versions of SQLite, of the comparisons and of the guards:
    where one of them changes, the statement is executed again. What may owe to the machine is not kept on disk, and
    neither is an outcome during whose execution the file was touched: nobody knows which content it is of.
    """

    def __init__(self, pool: SqlPool, folder: Path, *, deadline: float = GOLD_DEADLINE) -> None:
        self._pool = pool
        self._deadline = deadline
        self._outcomes = OutcomeFile(folder / "gold.jsonl")
        self._contents: dict[Path, asyncio.Future[Content]] = {}
        self._asked: dict[str, asyncio.Future[Outcome]] = {}
        self._suffix = f"{sqlite3.sqlite_version}\0{comparison.VERSION}\0{fingerprint(pool.limits)}"

    async def reference(self, database: Path, sql: str) -> Outcome:
        """Return the outcome of gold `sql` on `database`. Raises what `SqlPool.execute` raises."""
        key = await self._key(database, sql)
        known = self._outcomes.get(key)
        if known is not None:
            return known
        if key not in self._asked:
            self._asked[key] = asyncio.ensure_future(self._execute(key, database, sql))
        return await asyncio.shield(self._asked[key])

    async def _execute(self, key: str, database: Path, sql: str) -> Outcome:
        """Execute once for all who ask. A time-out stands, for the limit is long; a worker that died is confirmed."""
        execution = await self._pool.execute(database, sql, deadline=self._deadline)
        if execution.doubtful and execution.outcome.status != "timeout":  # asked a second time, the pool confirms it
            execution = await self._pool.execute(database, sql, deadline=self._deadline)
        if not execution.doubtful and await self._untouched(database):
            self._outcomes.put(key, execution.outcome)
            del self._asked[key]
        return execution.outcome

    async def _untouched(self, database: Path) -> bool:
        """Return whether the file is still the one that was hashed before anything was executed on it."""
        content = await self._content(database)
        return await asyncio.to_thread(Stamp.of, database) == content.stamp

    async def _key(self, database: Path, sql: str) -> str:
        content = await self._content(database)
        text = f"{content.digest}\0{self._suffix}\0{sql}".encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=16).hexdigest()

    async def _content(self, database: Path) -> Content:
        if database not in self._contents:
            self._contents[database] = asyncio.ensure_future(asyncio.to_thread(Content.of, database))
        return await asyncio.shield(self._contents[database])


class OutcomeFile:
    """Outcomes by key in one append-only file, which several processes may use at once.

    A record is one write of line break, checksum, space, JSON. The line break comes first so that a record that was cut
    short (a crash, a full disk) never spoils its successor; one that is not whole is passed over and computed again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records: dict[str, bytes] = {}
        if path.exists():
            for line in path.read_bytes().split(b"\n"):
                checksum, _, content = line.partition(b" ")
                if content and checksum == _checksum(content):
                    self._records[orjson.loads(content)["key"]] = content

    def get(self, key: str) -> Outcome | None:
        """Return the outcome under `key`, if there is one."""
        content = self._records.get(key)
        return None if content is None else Outcome.from_json(orjson.loads(content)["outcome"])

    def put(self, key: str, outcome: Outcome) -> None:
        """Keep `outcome` under `key`. Not being able to write costs the next run time and nothing else."""
        if key in self._records:
            return
        content = orjson.dumps({"key": key, "outcome": outcome.to_json()})
        self._records[key] = content
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(file, b"\n%s %s" % (_checksum(content), content))
            finally:
                os.close(file)


def _checksum(content: bytes) -> bytes:
    return b"%08x" % zlib.crc32(content)

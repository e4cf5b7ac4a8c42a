"""A run's databases: hashed at the start, asked only through the guarded workers, and hashed again at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import AsyncExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Self

from ...adapters.base import ConfigurationError
from ..errors import Unfinished
from ..system.cache import cache_folder
from ..system.digests import file_digest
from .databases import refuse_unclean
from .gold import GoldCache
from .outcome import Outcome
from .pool import SqlPool
from .processes import SqlPoolError


class SqlExecutor:
    """Runs SQL on named databases. Use it as an async context manager.

    An `idle` one only watches the databases: it starts no worker, since nothing will be executed.
    Entering raises ConfigurationError for a database that is missing or not at rest.
    """

    def __init__(
        self, databases: Mapping[str, Path], *, timeout: float, workers: int | None = None, idle: bool = False
    ) -> None:
        self._databases = databases
        self._idle = idle
        self.executing = 0
        """Statements of models that are under way or wait for a worker."""
        self._timeout = timeout
        self._pool = SqlPool(workers=workers)
        self._digests: dict[str, str] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for path in self._databases.values():
            refuse_unclean(path)
        self._digests = await self._hashes()
        if not self._idle:
            await self._stack.enter_async_context(self._pool)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @cached_property
    def _gold(self) -> GoldCache:
        """Read when the first gold is asked for: a run with nothing left to do asks for none."""
        return GoldCache(self._pool, cache_folder() / "gold")

    async def changed(self) -> list[str]:
        """Return the databases that are no longer the files that the run began with."""
        now = await self._hashes()
        return [name for name, digest in self._digests.items() if now[name] != digest]

    async def execute(self, database: str, sql: str) -> Outcome:
        """Run a model's SQL under the guards and the short limit."""
        self.executing += 1
        try:
            with _pool_failures():
                return (await self._pool.execute(self._path(database), sql, deadline=self._timeout)).outcome
        finally:
            self.executing -= 1

    async def reference(self, database: str, sql: str) -> Outcome:
        """Run gold SQL under the long limit, or return what it came to before."""
        with _pool_failures():
            return await self._gold.reference(self._path(database), sql)

    def _path(self, database: str) -> Path:
        try:
            return self._databases[database]
        except KeyError:
            raise ConfigurationError(f"the run has no database {database!r}") from None

    async def _hashes(self) -> dict[str, str]:
        digests = await asyncio.gather(*(asyncio.to_thread(file_digest, p) for p in self._databases.values()))
        return dict(zip(self._databases, digests, strict=True))


@contextmanager
def _pool_failures() -> Generator[None]:
    """Workers that cannot be had are no fault of the statement: the dialogue stays unfinished."""
    try:
        yield
    except SqlPoolError as error:
        raise Unfinished("infrastructure", f"the SQL workers failed: {error}") from error

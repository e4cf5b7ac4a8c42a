"""All shards of a run at work: begun, told of one another's money, and ended together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Final, Protocol, Self

from ...adapters.base import ConfigurationError
from ..calls.budget import Budget
from ..calls.ledger import Ledger
from ..folder.binding import JOURNAL
from ..folder.lock import holder
from ..journal import scan
from .commons import Book, Commons, Reply, Visit, at_most, failure, refuses
from .folder import shard_folder
from .link import HEARTBEAT, PATIENCE
from .roll import Roll, silent
from .worker import Ended, Job

BEGINNING: Final = 10.0
"""Seconds for which Redis is told for the first time, if it does not answer."""

ENDING: Final = 30.0
"""Seconds for which Redis is told again that the run is to end, if it does not answer."""


class Crew(Protocol):
    """Who runs the shards: processes of this machine, or Ray's workers."""

    async def __aenter__(self) -> Self:
        """Make ready."""
        ...

    async def __aexit__(self, *_: object) -> None:
        """End whatever still runs."""
        ...

    async def run(self, job: Job) -> Ended:
        """Run a shard to its end; where its process is killed, go on in another one, a few times."""
        ...

    def kill(self) -> None:
        """End all shards now."""
        ...


class Fleet:
    """Runs a job for each shard of the run in `folder`; `cap` is in billionths of a dollar, None without one.

    `told` hears what keeps all shards waiting, at once, and which is silent; an empty text when it is over.
    """

    def __init__(
        self,
        commons: Commons,
        crew: Crew,
        folder: Path,
        shards: int,
        cap: int | None,
        told: Callable[[str], None] = lambda trouble: None,
    ) -> None:
        self._commons = commons
        self._crew = crew
        self._folder = folder
        self._shards = shards
        self._cap = cap
        self._told = told
        self._books: dict[int, Book] = {}
        self._at_work = set[int]()
        self._ending: asyncio.Task[None] | None = None

    async def run(self, jobs: Sequence[Job]) -> list[Ended]:
        """Run all of them; return how each ended.

        No call is granted under a cap before what every shard has spent is known, so that is said first. Raises
        ConfigurationError when Redis does not take it.
        """
        idle = [index for index in range(self._shards) if holder(shard_folder(self._folder, index)) is None]
        books = [await self._book(index, replace=True) for index in idle] if self._cap is not None else []
        await self._begin(books)
        keeping = asyncio.create_task(self._keep())
        try:
            return await asyncio.gather(*(self._one(job) for job in jobs))
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    def end(self) -> None:
        """Let every shard end, resumable, as soon as its calls have landed; said twice: now."""
        if self._ending:
            self._crew.kill()
        else:
            self._ending = asyncio.create_task(self._end())

    @property
    def ending(self) -> bool:
        """Whether it was told to end."""
        return self._ending is not None

    async def _begin(self, books: Sequence[Book]) -> None:
        """Be the first to visit. A Redis that answered a moment ago and died since is started again."""
        loop = asyncio.get_running_loop()
        last = loop.time() + BEGINNING
        while True:
            try:
                await self._visit(books=books, ends="no")
                return
            except Exception as error:  # whatever redis-py raises
                if refuses(error) or loop.time() > last:
                    raise ConfigurationError(f"{failure(error)}.") from None
            await asyncio.sleep(0.05)

    async def _one(self, job: Job) -> Ended:
        self._at_work.add(job.index)
        ended = await self._crew.run(job)
        self._at_work.discard(job.index)
        if self._cap is not None:
            self._books[job.index] = await self._book(job.index)
        return ended

    async def _keep(self) -> None:
        """Tell a Redis that may have forgotten everything what the shards do not: whether the run is to end, and what
        those have spent that are not there any more. Tell our own side when it does not hear, or a shard is silent."""
        trouble, roll, now = "", Roll(), asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(HEARTBEAT)
            try:
                reply = await self._visit(books=list(self._books.values()), ends="yes" if self._ending else "no")
                said = silent(roll.called(now(), reply.heard, self._at_work))
            except Exception as error:  # whatever redis-py raises
                roll.deaf()
                said = (
                    f"{failure(error)}; nothing is sent meanwhile, and after {PATIENCE:.0f} s the run ends, resumable"
                )
            if bool(said) != bool(trouble):
                self._told(said)
            trouble = said

    async def _end(self) -> None:
        loop = asyncio.get_running_loop()
        last = loop.time() + ENDING
        while loop.time() < last:
            with suppress(Exception):
                await self._visit(ends="yes")
                return
            await asyncio.sleep(HEARTBEAT)
        self._crew.kill()

    async def _visit(self, books: Sequence[Book] = (), ends: str = "") -> Reply:
        return await self._commons.visit(Visit(shards=self._shards, cap=self._cap, books=books, ends=ends))

    async def _book(self, index: int, *, replace: bool = False) -> Book:
        usd = await asyncio.to_thread(spent, shard_folder(self._folder, index))
        return Book(str(index), at_most(usd), replace)


def spent(folder: Path) -> Decimal:
    """Return the most that the run in `folder` can have cost so far, in USD, by its journal alone."""
    budget = Budget()
    ledger = Ledger(budget)
    for line in scan(folder / JOURNAL):
        ledger.visit(line)
    ledger.close()
    return budget.committed

"""What must hold of any statement whatever, checked while statements are made up: for the test, and `bench.fuzz`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from turntide.engine.sql.bounds import SqlLimits
from turntide.engine.sql.databases import Stamp
from turntide.engine.sql.outcome import Outcome
from turntide.engine.sql.pool import GRACE, SqlPool

ATTEMPTS = 5
"""A statement is late when it is late as often as this, a second apart: other work on the machine can only add."""


class Fuzzer:
    """Executes statements one after another on a pool of its own; `statuses` counts what they came to."""

    def __init__(self, limits: SqlLimits, folders: Iterable[Path], *, deadline: float, overshoot: float) -> None:
        self.statuses: Counter[str] = Counter()
        self._limits = limits
        self._folders = tuple(folders)
        self._deadline = deadline
        self._patience = deadline + GRACE + overshoot

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._runner = stack.enter_context(asyncio.Runner())
            self._pool = SqlPool(workers=1, limits=self._limits)
            self._runner.run(self._pool.__aenter__())
            stack.callback(lambda: self._runner.run(self._pool.__aexit__()))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def check(self, database: Path, sql: str) -> None:
        """Execute `sql` and assert that it came to an outcome in time and left everything as it was."""
        before = self._surroundings(database)
        outcome = self._runner.run(self._execute(database, sql))
        assert "died" not in outcome.message, f"it crashed a worker: {outcome.message}"
        assert bool(outcome.digests) == (outcome.status == "ok")
        assert Outcome.from_json(outcome.to_json()) == outcome, "its outcome cannot be written down"
        assert self._surroundings(database) == before, "it changed or left a file"
        self.statuses[outcome.status] += 1

    async def _execute(self, database: Path, sql: str) -> Outcome:
        loop = asyncio.get_running_loop()
        seconds: list[float] = []
        while True:
            began = loop.time()
            execution = await self._pool.execute(database, sql + " " * len(seconds), deadline=self._deadline)
            seconds.append(loop.time() - began)
            if min(seconds) <= self._patience:
                return execution.outcome
            assert len(seconds) < ATTEMPTS, f"it was answered late: {seconds}"
            await asyncio.sleep(1.0)

    def _surroundings(self, database: Path) -> tuple[Stamp, list[frozenset[Path]]]:
        return Stamp.of(database), [frozenset(folder.iterdir()) for folder in (database.parent, *self._folders)]

"""Runs the trusted SQL of the benchmarks' files, each statement once."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..engine.sql.comparison import Digester
from .databases import open_readonly

if TYPE_CHECKING:
    from ..engine.sql.outcome import Cell

T = TypeVar("T")
Row: TypeAlias = "tuple[Cell, ...]"
Told: TypeAlias = Callable[[str], None]
"""Hears in a few words what is being done."""

LIMIT_SECONDS = 120.0
LIMIT_ROWS = 1_200_000
"""How long one gold query may take and how many rows it may give: generous, for it only has to end."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a trusted query came to. Results are equal where their digests are: `digest` under EnterpriseMem-Bench's EX
    (`strict`), `multiset` under TIDE-Bench's.
    """

    rows: int = 0
    digest: str = ""
    multiset: str = ""
    blank: bool = True
    """No row, or nothing but NULLs: an answer that says nothing."""
    error: str | None = None
    of_database: bool = False
    """Whether another database could have made the error go away; a limit that was reached says nothing of it."""


class LimitReached(sqlite3.DataError):
    """A trusted query took longer or gave more rows than it may."""


def in_silence(_: str) -> None:
    """Tell nobody."""


def steps(what: str, items: Sequence[T], told: Told) -> Iterator[T]:
    """Yield the items, telling before each how many are done."""
    for done, item in enumerate(items):
        told(f"{what}: {done:,} of {len(items):,}")
        yield item


class _Clock:
    """A progress handler that ends a statement after `limit` seconds, and knows that it did."""

    def __init__(self, limit: float) -> None:
        self.late = False
        self._deadline = time.monotonic() + limit

    def has_expired(self) -> bool:
        """Tell whether the statement has to end."""
        self.late = time.monotonic() > self._deadline
        return self.late


class GoldRunner:
    """Read-only connections to the source databases, and the results of all that ran on them. Use as a context."""

    def __init__(self, databases: Mapping[str, Path], limit: float = LIMIT_SECONDS) -> None:
        self._connections = {name: open_readonly(path) for name, path in databases.items()}
        self._results: dict[tuple[str, str], Result] = {}
        self._limit = limit

    def __enter__(self) -> GoldRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._connections.values():
            connection.close()

    def rows(self, database: str, sql: str) -> list[Row]:
        """Run `sql` and return its rows; sqlite3.Error when it fails, LimitReached when it runs into a limit."""
        connection = self._connections[database]
        clock = _Clock(self._limit)
        connection.set_progress_handler(clock.has_expired, 100_000)
        try:
            rows = connection.execute(sql).fetchmany(LIMIT_ROWS + 1)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT and not clock.late:
                # Ctrl-C came while the handler ran: sqlite3 swallows whatever is raised there, and stops the statement.
                raise KeyboardInterrupt from None
            if clock.late:
                raise LimitReached(f"stopped after {self._limit:,.0f} s") from error
            raise
        if len(rows) > LIMIT_ROWS:
            raise LimitReached(f"more than {LIMIT_ROWS:,} rows")
        return rows

    def result(self, database: str, sql: str) -> Result:
        """Run `sql`, or recall what it came to."""
        key = (database, sql)
        if key not in self._results:
            self._results[key] = self._run(database, sql)
        return self._results[key]

    def _run(self, database: str, sql: str) -> Result:
        try:
            rows = self.rows(database, sql)
        except sqlite3.Error as error:
            return Result(error=str(error), of_database=_of_database(error))
        digester = Digester()
        for row in rows:
            digester.add(row)
        digests = digester.digests()
        blank = all(value is None for row in rows for value in row)
        return Result(len(rows), digests["strict"], digests["multiset"], blank)


def _of_database(error: sqlite3.Error) -> bool:
    """Whether an error may owe to the database: no limit, no slip of syntax, no second statement."""
    of_text = isinstance(error, sqlite3.ProgrammingError) or re.search("syntax error|incomplete input", str(error))
    return not (of_text or isinstance(error, LimitReached))

"""What may be wrong with a trusted statement though it runs: findings that say how far its result can be relied on.

    empty   it returns no row
    null    it returns nothing but NULLs
    slow    it takes more than `SLOW` steps of SQLite's machine, whatever the machine that it runs on
    order   its result depends on the order in which SQLite visits rows, which SQL leaves open
    tie     its outermost LIMIT cuts between rows that its ORDER BY ranks the same

`order` is found by trial: the statement runs once more with SQLite's `reverse_unordered_selects`, and gives another
multiset of printed rows (sums of floats may differ in their last digits then). That pragma leaves rows alone that an
ORDER BY ranks the same, so `tie` is found in the statement's tree: the row after the last one is fetched too, with the
values that rank it.
"""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from .bounds import GOLD_DEADLINE
from .comparison import Digester

Finding: TypeAlias = Literal["empty", "null", "slow", "order", "tie"]
FINDINGS: Final[tuple[Finding, ...]] = ("empty", "null", "slow", "order", "tie")

SLOW: Final = 100_000_000
"""Steps: about two seconds of one processor."""

VERSION: Final = f"1:{sqlite3.sqlite_version}"
"""Of what is found: raise the first number when the rules change."""

_STRIDE: Final = 100_000


class Abandoned(Exception):
    """The examination was told to stop."""


class Examiner:
    """Connections of its own to the databases, on which trusted statements run. It belongs to one thread.

    `stopped` is asked while statements run; `Abandoned` is raised when it says so.
    """

    def __init__(self, stopped: Callable[[], bool], deadline: float = GOLD_DEADLINE) -> None:
        self._stopped = stopped
        self._deadline = deadline
        self._connections: dict[tuple[Path, bool], sqlite3.Connection] = {}

    def findings(self, database: Path, sql: str) -> list[Finding]:
        """Return what is to be said of `sql`, in the order of `FINDINGS`; a statement that fails has no findings."""
        steps = _Steps(self._stopped, self._deadline)
        try:
            result = self._run(database, sql, steps)
        except sqlite3.OperationalError:
            return ["slow"] if steps.late else []
        holds: dict[Finding, bool] = {
            "empty": result.rows == 0,
            "null": result.rows > 0 and result.blank,
            "slow": steps.count > SLOW,
            "order": self._depends_on_order(database, sql, result),
            "tie": self._cuts_a_tie(database, sql),
        }
        return [finding for finding in FINDINGS if holds[finding]]

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()

    def _depends_on_order(self, database: Path, sql: str, result: _Result) -> bool:
        other = self._again(database, sql, reverse=True)
        return other is not None and other.digest != result.digest

    def _cuts_a_tie(self, database: Path, sql: str) -> bool:
        from .limited import one_more

        more = one_more(sql)
        result = more and self._again(database, more.sql)
        if more is None or result is None or result.rows <= more.limit:
            return False
        last, beyond = ([row[place] for place in more.keys] for row in result.end)
        return last == beyond

    def _again(self, database: Path, sql: str, *, reverse: bool = False) -> _Result | None:
        try:
            return self._run(database, sql, _Steps(self._stopped, self._deadline), reverse=reverse)
        except sqlite3.OperationalError:
            return None

    def _run(self, database: Path, sql: str, steps: _Steps, *, reverse: bool = False) -> _Result:
        connection = self._connection(database, reverse)
        connection.set_progress_handler(steps, _STRIDE)
        try:
            return _Result.of(connection.execute(sql))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT and not (steps.late or steps.stopped):
                # Ctrl-C came while the handler ran: sqlite3 swallows whatever is raised there.
                raise KeyboardInterrupt from None
            raise
        finally:
            connection.set_progress_handler(None, 0)
            if steps.stopped:
                raise Abandoned

    def _connection(self, database: Path, reverse: bool) -> sqlite3.Connection:
        key = (database, reverse)
        if key not in self._connections:
            uri = f"{database.absolute().as_uri()}?mode=ro&immutable=1"
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            connection.execute(f"PRAGMA reverse_unordered_selects = {int(reverse)}")
            connection.execute("PRAGMA query_only = 1")
            self._connections[key] = connection
        return self._connections[key]


class _Steps:
    """A progress handler that counts, and ends a statement that takes too long or is no longer wanted."""

    def __init__(self, stopped: Callable[[], bool], deadline: float) -> None:
        self.count = 0
        self.late = False
        self.stopped = False
        self._asked = stopped
        self._until = time.monotonic() + deadline

    def __call__(self) -> bool:
        self.count += _STRIDE
        self.stopped = self._asked()
        self.late = time.monotonic() > self._until
        return self.stopped or self.late


@dataclass(frozen=True, slots=True)
class _Result:
    """What there is to know of a result, taken in row by row: `end` holds its last two rows."""

    rows: int
    blank: bool
    digest: str
    end: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> _Result:
        digester, end, blank = Digester(), deque[tuple[Any, ...]](maxlen=2), True
        for row in rows:
            digester.add(row)
            end.append(row)
            blank = blank and all(value is None for value in row)
        return cls(digester.rows, blank, digester.digests()["strict"], tuple(end))

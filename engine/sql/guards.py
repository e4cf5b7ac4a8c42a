"""What stands between a hostile statement and everything else, inside one connection.

Every callback here runs on the thread that executes the statement, so none of them can hit another one.
"""

from __future__ import annotations

import re
import sqlite3
import time
from functools import partial

import msgspec

from .bounds import Collector, SqlLimits
from .outcome import Outcome

VERSION = 2
"""Part of the keys of cached outcomes: raise it whenever the guards could answer a statement differently."""

STEPS = 1_000
"""Virtual-machine instructions between two looks at the clock: an overshoot of 0.3 to 2.4 ms at no visible cost."""

_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}

_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "sqlite_log"}

_ACTIONS = {
    sqlite3.SQLITE_ATTACH: "ATTACH",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_PRAGMA: "PRAGMA",
    sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT",
    sqlite3.SQLITE_TRANSACTION: "a transaction",
}

_OWN_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 2_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 1_000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 500,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 1_000_000,
}

_SKIPPED = re.compile(r"(?:[\s;\ufeff]++|--[^\n]*+\n?|/\*.*?(?:\*/|\Z))*+", re.DOTALL | re.ASCII)
"""What SQLite passes over before a statement: white space, a byte order mark, comments, empty statements.

It never goes back, so that a megabyte of comments holds the loop for some 30 ms and not for 120.
"""


def refuse_text(sql: str, limits: SqlLimits) -> Outcome | None:
    """Return the outcome of a text that needs no worker to be refused, else None."""
    try:
        size = len(sql.encode())
    except UnicodeEncodeError as error:
        return Outcome(status="syntax", message=f"unrecognized token: lone surrogate at character {error.start}")
    if size > limits.sql:
        return Outcome(status="denied", message=f"the statement is longer than {limits.sql:,} bytes")
    if "\0" in sql:
        return Outcome(status="syntax", message=f"unrecognized token: NUL at character {sql.index(chr(0))}")
    statement = _SKIPPED.sub("", sql, count=1)
    if not statement:
        return Outcome(status="syntax", message="no SQL statement")
    if re.match(r"explain\b", statement, re.IGNORECASE):
        return Outcome(status="denied", message="EXPLAIN is not allowed")
    return None


class Guard:
    """Opens one guarded connection and watches over its statements, one at a time."""

    def __init__(self, limits: SqlLimits) -> None:
        self.refused = ""
        self._limits = limits
        self._expires = 0.0
        self._collector = Collector(limits)

    def connect(self, uri: str) -> sqlite3.Connection:
        """Open a database that is never written to, with everything in place. Run it on the executing thread."""
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, cached_statements=0)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        # Their first use creates them, which the authorizer would take for a write. The database may have tables of
        # the same names, but none of them is in `temp`.
        connection.execute("SELECT 1 FROM temp.json_each('[]'), temp.json_tree('[]')").fetchall()
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._limits.value)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, self._limits.sql)
        for limit, value in _OWN_LIMITS.items():
            connection.setlimit(limit, value)
        # A text that is no UTF-8 keeps its bytes; by default it would fail the whole statement.
        connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        connection.row_factory = self._take
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._has_expired, STEPS)
        return connection

    def arm(self, deadline: float) -> Collector:
        """Start the clock of the next statement, `deadline` seconds, and return what will collect its rows."""
        self.refused = ""
        self._expires = time.monotonic() + deadline
        self._collector = Collector(self._limits)
        return self._collector

    def _take(self, _: sqlite3.Cursor, row: tuple[None | int | float | str | bytes, ...]) -> None:
        if self._has_expired():  # large rows take time without taking steps
            raise TimeoutError
        self._collector.take(row)

    def _has_expired(self) -> bool:
        return time.monotonic() > self._expires

    def _authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":  # what declares a module's table to SQLite
            return self._deny("a virtual table")
        if action not in _READING:
            return self._deny(_ACTIONS.get(action, "writing"))
        if action == sqlite3.SQLITE_FUNCTION and second and second.lower() in _FORBIDDEN_FUNCTIONS:
            return self._deny(f"{second}()")
        return sqlite3.SQLITE_OK

    def _deny(self, what: str) -> int:
        self.refused = self.refused or f"{what} is not allowed"
        return sqlite3.SQLITE_DENY


def fingerprint(limits: SqlLimits) -> str:
    """Return what of the guards decides an outcome, for keys of caches."""
    return f"{VERSION}:{msgspec.json.encode(limits).decode()}"

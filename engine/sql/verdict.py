"""From an exception of SQLite to an outcome's status (decisions: what counts as syntax, and what as runtime)."""

from __future__ import annotations

import re
import sqlite3

from .bounds import BoundHit
from .outcome import Outcome, Status

LONGEST_MESSAGE = 500

_SYNTAX = re.compile(
    r'near ".*": syntax error|incomplete input|unrecognized token: .*|parser stack overflow', re.DOTALL
)

_BROKEN = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOTADB}


class BrokenDatabase(Exception):
    """The database, not the statement, is at fault: no outcome can come of it."""


def read_error(error: Exception, *, refused: str, deadline: float) -> Outcome:
    """Return the outcome of a statement that ended with `error`.

    `refused` is what the authorizer turned down while the statement ran, if anything. Raises BrokenDatabase for errors
    of the file and re-raises what no statement may cause.
    """
    if refused:
        return _outcome("denied", refused)
    match error:
        case BoundHit():
            return _outcome(error.bound, str(error))
        case TimeoutError():
            return timed_out(deadline)
        case MemoryError():
            return _outcome("memory", "out of memory")
        case UnicodeDecodeError():  # an error message of SQLite's that quotes bytes of the data
            return _outcome("runtime", "an error whose message is no UTF-8")
        case sqlite3.Warning() | sqlite3.ProgrammingError() if "one statement at a time" in str(error):
            return _outcome("denied", "several statements are not allowed")
        case sqlite3.Error():
            return _read_sqlite(error, deadline)
        case _:
            raise error


def timed_out(deadline: float) -> Outcome:
    """Return the outcome of a statement that was stopped, by its own connection or with its process."""
    return _outcome("timeout", f"stopped after {deadline:g} s")


def died(fate: str) -> Outcome:
    """Return the outcome of a statement whose worker died of `fate`: a signal that was not ours, or an exit code."""
    if fate == "SIGKILL":
        return _outcome("memory", "the worker was killed, most likely for its memory")
    return _outcome("runtime", f"the worker died of {fate}")


def _read_sqlite(error: sqlite3.Error, deadline: float) -> Outcome:
    message = str(error)
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # errors of the Python layer have none
    if code in _BROKEN:
        raise BrokenDatabase(message)
    if code == sqlite3.SQLITE_INTERRUPT:
        return timed_out(deadline)
    if code == sqlite3.SQLITE_TOOBIG:
        return _outcome("bytes", message)
    return _outcome("syntax" if _SYNTAX.fullmatch(message) else "runtime", message)


def _outcome(status: Status, message: str) -> Outcome:
    return Outcome(status=status, message=message[:LONGEST_MESSAGE])

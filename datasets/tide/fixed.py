"""Whether a query fixes its result: what leaves it open can be hit by chance alone, and is no gold to score against.

    volatile   it asks for random numbers or for the time at which it runs
    order      its result depends on the order in which SQLite visits rows: also a scalar subquery over several rows
    tie        its outermost LIMIT cuts between rows that its ORDER BY ranks the same

The last two are those of `engine.sql.quality`. Only trusted queries are examined: golds, and edits of their trees.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, TypeAlias, get_args

from sqlglot import exp

from ...engine.sql.quality import Examiner
from .parsing import UnparsableSql, parse

Doubt: TypeAlias = Literal["volatile", "order", "tie"]
DOUBTS: Final[tuple[Doubt, ...]] = get_args(Doubt)

_RANDOM = (exp.Rand, exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime)
_TIMES = (exp.Date, exp.TsOrDsToTimestamp)
_NAMED_RANDOM = frozenset({"random", "randomblob"})
_NAMED_TIMES = frozenset({"date", "time", "datetime", "julianday", "unixepoch", "timediff", "strftime"})
_NOW = frozenset({"now", "subsec", "subsecond"})
"""Time values that mean the present, in any case; the last two do where they are the only argument."""


class Doubts:
    """Finds what leaves results open, each query once. Use as a context; it belongs to one thread."""

    def __init__(self, databases: Mapping[str, Path], deadline: float) -> None:
        self._databases = databases
        self._examiner = Examiner(lambda: False, deadline)
        self._found: dict[tuple[str, str], frozenset[Doubt]] = {}

    def __enter__(self) -> Doubts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._examiner.close()

    def of(self, database: str, sql: str) -> frozenset[Doubt]:
        """Return what leaves the result of a trusted `sql` open: nothing, as a rule, or where it does not run."""
        key = (database, sql)
        if key not in self._found:
            self._found[key] = self._examined(database, sql)
        return self._found[key]

    def _examined(self, database: str, sql: str) -> frozenset[Doubt]:
        try:
            if is_volatile(parse(sql)):
                return frozenset({"volatile"})
        except UnparsableSql:
            return frozenset()
        try:
            findings = self._examiner.findings(self._databases[database], sql)
        except sqlite3.Error:
            return frozenset()
        return frozenset(doubt for doubt in DOUBTS if doubt in findings)


def is_volatile(tree: exp.Expr) -> bool:
    """Tell whether a query asks for random numbers or for the present time, wherever in its tree."""
    return any(_is_random(node) or _is_present(node) for node in tree.walk())


def _is_random(node: exp.Expr) -> bool:
    return isinstance(node, _RANDOM) or (isinstance(node, exp.Anonymous) and node.name.lower() in _NAMED_RANDOM)


def _is_present(node: exp.Expr) -> bool:
    """Tell whether `node` is a function of time over no time at all, or over the present one."""
    if not (isinstance(node, _TIMES) or (isinstance(node, exp.Anonymous) and node.name.lower() in _NAMED_TIMES)):
        return False
    given = list(node.iter_expressions())
    return not given or any(_says_now(each) for each in given)


def _says_now(value: exp.Expr) -> bool:
    if value.name.lower() not in _NOW:
        return False
    # SQLite takes a name in double quotes for a string where no column is called so.
    quoted = isinstance(value, exp.Column) and not value.table and value.this.args.get("quoted")
    return isinstance(value, exp.Literal) or bool(quoted)

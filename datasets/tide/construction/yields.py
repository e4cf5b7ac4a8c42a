"""What the tree of an anchor yields without a model: drifts that pass the eight checks, over the database's values.

An edit whose result is open, by a tie or the order of rows, though that of the query before is not, is passed over:
Table 7 lets it through, but nobody could answer it reliably.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import TypeAlias

from msgspec import structs
from sqlglot import exp

from ...gold import GoldRunner, Result
from ..checks import Anchor, Candidate, first_failure
from ..editing import Value, tree_drifts, written
from ..fixed import Doubts
from ..samples import DriftLabel
from ..schema import Schema, schema_of
from .anchors import TreeDrift

_OFFERED = 8
"""Other values that are looked up for a predicate, the most frequent first."""

_TRIED = 4
"""How many of them are tried until a drift has an effect."""

_Label: TypeAlias = "tuple[str, str | None]"


class Ground:
    """One database, and what edits of queries over it come to. `values` collects what was looked up, by predicate;
    `open_results` the edits that were passed over because their results are open.
    """

    def __init__(self, database: str, path: Path, runner: GoldRunner, doubts: Doubts) -> None:
        self.schema: Schema = schema_of(path)
        self._database = database
        self._runner = runner
        self._doubts = doubts
        self.values: dict[str, tuple[Value, ...]] = {}
        self.open_results: set[str] = set()

    def begin(self) -> None:
        """Forget what was collected: another anchor is next."""
        self.values, self.open_results = {}, set()

    def run(self, sql: str) -> Result:
        """Run `sql`, or recall what it came to."""
        return self._runner.result(self._database, sql)

    def sequences(self, sql: str, firsts: Iterable[TreeDrift], count: int) -> Iterator[TreeDrift]:
        """Yield each drift of `firsts` with `count` - 1 that follow it, as far as there are so many.

        Each next drift is of a label that was had least before, and comes back to no earlier query.
        """
        for first in firsts:
            later = self._following((first,), {sql}, count - 1)
            if later is not None:
                yield structs.replace(first, later=later)

    def _following(self, had: tuple[TreeDrift, ...], seen: Set[str], left: int) -> tuple[TreeDrift, ...] | None:
        """Return `left` drifts that follow those that were had, or None when it comes to a dead end."""
        if not left:
            return ()
        seen = {*seen, had[-1].sql}
        subtypes = [drift.label.subtype for drift in had]
        options = [drift for drift in self.drifts(had[-1].sql) if drift.sql not in seen]
        for option in sorted(options, key=lambda option: subtypes.count(option.label.subtype)):
            rest = self._following((*had, option), seen, left - 1)
            if rest is not None:
                return (option, *rest)
        return None

    def drifts(self, sql: str) -> tuple[TreeDrift, ...]:
        """Return the first drift of each label that an edit of `sql` makes. Raises UnparsableSql."""
        anchor, found, tried = Anchor(sql, self.run, self.schema), dict[_Label, TreeDrift](), set[str]()
        for skipped in range(_TRIED):
            for edit in tree_drifts(sql, lambda _, literal, skip=skipped: self._others(literal)[skip:], self.schema):
                key = edit.subtype, edit.fine_subtype
                if key in found or edit.sql in tried:
                    continue
                tried.add(edit.sql)
                label = DriftLabel(subtype=edit.subtype, fine_subtype=edit.fine_subtype)
                candidate = Candidate(drift_utterance=edit.what, post_drift_sql=edit.sql)
                if first_failure(candidate, anchor, label) is not None:
                    continue
                if self._opens_result(sql, edit.sql):
                    self.open_results.add(edit.sql)
                else:
                    found[key] = TreeDrift(label=label, sql=edit.sql, what=edit.what)
            if ("value", None) in found:  # other values change nothing else
                break
        return tuple(found.values())

    def _opens_result(self, before: str, after: str) -> bool:
        """Tell whether what leaves the later result open did not do so before."""
        return bool(self._doubts.of(self._database, after) - self._doubts.of(self._database, before))

    def _others(self, literal: exp.Literal) -> tuple[Value, ...]:
        """Return what else stands where `literal` is compared: other values of the other side of its predicate."""
        predicate = literal.parent
        assert predicate is not None
        key = written(predicate.copy())
        if key not in self.values:
            self.values[key] = tuple(self._lookup(predicate, literal))
        return self.values[key]

    def _lookup(self, predicate: exp.Expr, literal: exp.Literal) -> Iterator[Value]:
        side = next((part for part in predicate.iter_expressions() if part.find(exp.Column)), None)
        table = side and _table_of(side, self.schema)
        if side is None or table is None:
            return
        source, asked = written(table.copy()), written(side.copy())
        sql = (
            f"SELECT {asked} FROM {source} WHERE {asked} IS NOT NULL GROUP BY 1 ORDER BY COUNT(*) DESC, 1 "
            f"LIMIT {_OFFERED}"
        )
        try:
            rows = self._runner.rows(self._database, sql)
        except sqlite3.Error:
            return
        for (value,) in rows:
            if str(value) != literal.name and (fit := _fitting(value, literal)) is not None:
                yield fit


def _fitting(value: object, literal: exp.Literal) -> Value | None:
    """Return `value` as a literal of the same kind, if it is one."""
    match value:
        case str() if literal.is_string and value.strip():
            return value
        case int() | float():
            return str(value) if literal.is_string else value
        case _:
            return None


def _table_of(side: exp.Expr, schema: Schema) -> exp.Table | None:
    """Return the one table whose columns `side` speaks of, as its query names it; None when there are several."""
    select = side.find_ancestor(exp.Select)
    source = select.args.get("from_") if select else None
    if select is None or source is None:
        return None
    named = [source.this, *(join.this for join in select.args.get("joins") or ())]
    tables = [table for table in named if isinstance(table, exp.Table)]
    found = {id(table): table for column in side.find_all(exp.Column) for table in _homes(column, tables, schema)}
    return next(iter(found.values())) if len(found) == 1 else None


def _homes(column: exp.Column, tables: list[exp.Table], schema: Schema) -> Iterator[exp.Table]:
    for table in tables:
        if column.table:
            if column.table.lower() == table.alias_or_name.lower():
                yield table
        elif column.name.lower() in (schema.columns(table.name.lower()) or ()):
            yield table

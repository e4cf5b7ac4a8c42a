"""What the names in a query stand for.

Two queries that differ only in their aliases commit to the same things, so a canonical name says where a column
comes from and never what somebody called it:

    schools.county         a column of a base table
    schools#2.county       … of its second occurrence in the same FROM clause
    ^schools.county        … of the enclosing query: one caret for each step outwards
    from#2[COUNT(*)]       an output of the derived table that is second in FROM, by the structural form it stands for
    cte#1[schools.county]  an output of the first common table expression

A bare name is looked up in SQLite's order: the columns of FROM, then the output aliases, then the enclosing queries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def quoted(name: str) -> str:
    """Return `name` as it stands in canonical text: in double quotes only where it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Columns:
    """What a nested query offers: pairs of (output name, structural form) in order.

    An output without a name has "". `closed` says that there are no others; a `*` over a table whose columns are not
    known leaves it open.
    """

    items: tuple[tuple[str, str], ...] = ()
    closed: bool = True

    def renamed(self, names: Sequence[str]) -> Columns:
        """Return the columns under the names of a column list, as in `WITH t(a, b) AS …`."""
        if not names:
            return self
        forms = (form for _, form in self.items)
        return Columns(tuple(zip(names, forms, strict=False)), self.closed)


@dataclass(frozen=True, slots=True)
class Source:
    """One member of a FROM clause.

    `columns` are all its column names, or None when they are not known; `forms` gives, for an output of a nested
    query, the structural form that it stands for.
    """

    alias: str
    name: str
    columns: Collection[str] | None
    forms: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def nested(cls, alias: str, name: str, columns: Columns) -> Source:
        """Return the source that a derived table or a common table expression is."""
        forms: dict[str, str] = {}
        twins: Counter[str] = Counter()
        for output, form in columns.items:
            twins[form] += 1
            forms.setdefault(output, form if twins[form] == 1 else f"{form} #{twins[form]}")
        return cls(alias, name, forms.keys() if columns.closed else None, forms)

    def offers(self, column: str) -> bool:
        """Whether the source certainly has `column`."""
        return column in self.forms or (self.columns is not None and column in self.columns)

    def reference(self, column: str) -> str:
        """Return the canonical name of `column` of this source; `*` stands for all of them."""
        form = self.forms.get(column)
        if form is not None:
            return f"{self.name}[{form}]"
        return f"{self.name}.{column if column == '*' else quoted(column)}"

    def outputs(self) -> Columns:
        """Return what a `*` over this source stands for."""
        known = self.columns if self.columns is not None else self.forms
        return Columns(tuple((name, self.reference(name)) for name in known), self.columns is not None)


class Scope:
    """The names that one query block can see: its sources, its own outputs, and the block around it."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.sources: list[Source] = []
        self.items: list[exp.Expr] = []
        """The outputs that ordinals count, as canonical trees: those before the first `*`."""
        self.aliases: dict[str, exp.Expr] = {}
        self._occurrences: Counter[str] = Counter()

    @classmethod
    def over(cls, columns: Columns, parent: Scope | None) -> Scope:
        """Return the scope of an ORDER BY that sees only the outputs of a compound query."""
        scope = cls(parent)
        if columns.closed:
            scope.items = [exp.Var(this=form) for _, form in columns.items]
        for name, form in reversed(columns.items):
            scope.aliases[name] = exp.Var(this=form)
        return scope

    def add(self, source: Source) -> None:
        """Add a member of FROM; the second occurrence of a table is called `table#2`, and so on."""
        self._occurrences[source.name] += 1
        occurrence = self._occurrences[source.name]
        self.sources.append(source if occurrence == 1 else replace(source, name=f"{source.name}#{occurrence}"))

    def column(self, column: exp.Column, *, aliases: bool) -> exp.Expr | None:
        """Return what `column` stands for: a leaf with its canonical name, or a copy of the output that it names.

        None when every table is known and none has it.

        `aliases` says that an output alias wins over a table that might have a column of that name, which is how
        GROUP BY, HAVING and ORDER BY are read where the schema is not known.
        """
        if column.table:
            return exp.Var(this=self._qualified(column))
        name = column.name.lower()
        for depth, scope in enumerate(self._outwards()):
            for source in scope.sources:
                if source.offers(name):
                    return exp.Var(this="^" * depth + source.reference(name))
            unknown = any(source.columns is None for source in scope.sources)
            if scope is self and name in self.aliases and (aliases or not unknown):
                return self.aliases[name].copy()
            if unknown:
                return exp.Var(this=quoted(name))
        return None

    def _qualified(self, column: exp.Column) -> str:
        table, name = column.table.lower(), column.name.lower()
        for depth, scope in enumerate(self._outwards()):
            for source in scope.sources:
                if source.alias == table:
                    return "^" * depth + source.reference(name)
        return Source(table, quoted(table), None).reference(name)

    def ordinal(self, term: exp.Expr) -> exp.Expr | None:
        """Return a copy of the output that `term` counts to when it is an ordinal, else None."""
        if isinstance(term, exp.Literal) and term.is_int and 0 < int(term.name) <= len(self.items):
            return self.items[int(term.name) - 1].copy()
        return None

    def alias(self, term: exp.Expr) -> exp.Expr | None:
        """Return a copy of the output whose alias `term` is, else None."""
        if isinstance(term, exp.Column) and not term.table and term.name.lower() in self.aliases:
            return self.aliases[term.name.lower()].copy()
        return None

    def outputs(self, items: Sequence[exp.Expr], forms: Sequence[str]) -> Columns:
        """Return what the block offers to the query around it, given its select items and their structural forms."""
        found: list[Columns] = []
        for item, form in zip(items, forms, strict=True):
            if not item.is_star:
                name = item.alias or (item.name if isinstance(item, exp.Column) else "")
                found.append(Columns(((name.lower(), form),)))
                continue
            table = item.text("table").lower()
            found += (source.outputs() for source in self.sources if table in ("", source.alias))
        return Columns(tuple(pair for part in found for pair in part.items), all(part.closed for part in found))

    def _outwards(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope:
            yield scope
            scope = scope.parent

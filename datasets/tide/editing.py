"""Drifts made by editing the tree of a query: value, constraint and projection (§2.2, §3.2).

The small edits take a tree and return a changed copy; `tree_drifts` lists what they make of any anchor. Each edit is
judged by Algorithm 1 before it is offered, so it is of the level that it says, whatever the shape of the query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TypeAlias

from sqlglot import exp

from .canonical import conjuncts
from .commitments import commitments
from .drift import FineSubtype, compare
from .parsing import SQLITE, parse
from .schema import Schema
from .structure import Subtype

Value: TypeAlias = "str | int | float"
Values: TypeAlias = "Callable[[exp.Column, exp.Literal], Iterable[Value]]"
"""Gives other values that the column could be compared with, in the order of preference."""

_COUNTERPARTS: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.Avg: exp.Sum, exp.Sum: exp.Avg, exp.Max: exp.Min, exp.Min: exp.Max,
}  # fmt: skip
"""What a changed mind turns an aggregate into."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A query that drifts from another. `what` names the part of the tree that was edited, as SQL."""

    subtype: Subtype
    fine_subtype: FineSubtype | None
    sql: str
    what: str


def written(tree: exp.Expr) -> str:
    """Return `tree` as SQLite's SQL on one line."""
    return SQLITE.generate(tree, copy=False)


def expression(sql: str) -> exp.Expr:
    """Return the tree of one expression or select item, such as `T1.status = 'A'`."""
    return parse(f"SELECT {sql}").expressions[0]


def tree_drifts(sql: str, values: Values, schema: Schema | None = None) -> Iterator[Edit]:
    """Yield the drifts from `sql` that single edits of its tree make: value, then constraint, then projection.

    Raises UnparsableSql when `sql` is not one query.
    """
    tree = parse(sql)
    before, seen = commitments(sql, schema), set[str]()
    for edited, what in chain(_value_edits(tree, values), _constraint_edits(tree), _projection_edits(tree)):
        after = written(edited)
        outcome = compare(before, commitments(after, schema))
        if outcome.verdict in ("value", "constraint", "projection") and after not in seen:
            seen.add(after)
            yield Edit(outcome.verdict, outcome.fine_subtype, after, what)


def without_filters(tree: exp.Query, *dropped: exp.Expr) -> exp.Query:
    """Return `tree` without these members of the AND of its WHERE clauses.

    ValueError when one of them is not there.
    """
    edited = tree.copy()
    for predicate in dropped:
        where = _where_with(edited, predicate)
        kept = [member for member in conjuncts(where.this) if member != predicate]
        if kept:
            where.set("this", exp.and_(*kept, dialect=SQLITE, copy=False))
        else:
            where.pop()
    return edited


def with_filter(tree: exp.Query, old: exp.Expr, new: exp.Expr) -> exp.Query:
    """Return `tree` with `new` in the place of `old` among the members of its WHERE clauses.

    ValueError when `old` is not there.
    """
    edited = tree.copy()
    where = _where_with(edited, old)
    next(member for member in conjuncts(where.this) if member == old).replace(new.copy())
    return edited


def with_limit(tree: exp.Query, rows: int) -> exp.Query:
    """Return `tree` with another LIMIT."""
    return tree.limit(rows)


def turned_round(tree: exp.Query) -> exp.Query:
    """Return `tree` with the direction of its first ordering key reversed. ValueError when it has no ORDER BY."""
    edited = tree.copy()
    order = edited.args.get("order")
    if not order:
        raise ValueError("there is no ORDER BY to turn round")
    first = order.expressions[0]
    downwards = not first.args.get("desc")
    first.set("desc", downwards or None)
    first.set("nulls_first", not downwards)  # where SQLite puts them anyway, so that nothing is written
    return edited


def selecting(tree: exp.Query, *items: str) -> exp.Query:
    """Return `tree` with other select items."""
    edited = tree.copy()
    edited.set("expressions", [expression(item) for item in items])
    return edited


def without(tree: exp.Query, *clauses: str) -> exp.Query:
    """Return `tree` without these clauses of its outermost block: `group`, `having`, `order`, `limit`."""
    edited = tree.copy()
    for clause in clauses:
        edited.set(clause, None)
    return edited


def grouped_by(tree: exp.Query, *keys: str) -> exp.Query:
    """Return `tree` with other grouping keys."""
    edited = tree.copy()
    edited.set("group", exp.Group(expressions=[expression(key) for key in keys]))
    return edited


def having(tree: exp.Query, predicate: str) -> exp.Query:
    """Return `tree` with another HAVING clause."""
    edited = tree.copy()
    edited.set("having", exp.Having(this=expression(predicate)))
    return edited


def _where_with(tree: exp.Expr, predicate: exp.Expr) -> exp.Where:
    for where in tree.find_all(exp.Where):
        if any(member == predicate for member in conjuncts(where.this)):
            return where
    raise ValueError(f"no WHERE clause holds {written(predicate)}")


def _value_edits(tree: exp.Query, values: Values) -> Iterator[tuple[exp.Query, str]]:
    """Replace one literal that a filter compares a column with: each by the first other value that is offered."""
    for place, literal in enumerate(_compared(tree)):
        predicate = literal.parent
        column = predicate.find(exp.Column) if predicate else None
        new = next((v for v in values(column, literal) if str(v) != literal.name), None) if column else None
        if predicate and new is not None:
            edited = tree.copy()
            _compared(edited)[place].replace(_literal(new))
            yield edited, written(predicate)


def _compared(tree: exp.Expr) -> list[exp.Literal]:
    """Return the literals that stand directly in a comparison inside a WHERE clause, in the order of the tree."""
    found = {
        id(literal): literal
        for where in tree.find_all(exp.Where)
        for literal in where.find_all(exp.Literal)
        if isinstance(literal.parent, exp.Predicate)
    }
    return list(found.values())


def _literal(value: Value) -> exp.Expr:
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(value)


def _constraint_edits(tree: exp.Query) -> Iterator[tuple[exp.Query, str]]:
    """Drop each filter alone, then each pair of filters of one WHERE clause; equal ones are one."""
    for size in (1, 2):
        for where in tree.find_all(exp.Where):
            for dropped in combinations(dict.fromkeys(conjuncts(where.this)), size):
                yield without_filters(tree, *dropped), " AND ".join(map(written, dropped))


def _projection_edits(tree: exp.Query) -> Iterator[tuple[exp.Query, str]]:
    """Edit each output clause of the outermost block."""
    for place, item in enumerate(tree.expressions if isinstance(tree, exp.Select) else ()):
        if len(tree.expressions) > 1:
            edited = tree.copy()
            edited.expressions[place].pop()
            yield edited, written(item)
        if new := _instead_of(item.unalias(), tree):
            edited = without(tree, "distinct") if isinstance(new, exp.Count) else tree.copy()
            edited.expressions[place].replace(new)
            yield edited, written(item)
    if order := tree.args.get("order"):
        yield turned_round(tree), written(order)
    if limit := tree.args.get("limit"):
        yield without(tree, "limit"), written(limit)
    if found := tree.args.get("having"):
        yield without(tree, "having"), written(found)


def _instead_of(item: exp.Expr, tree: exp.Query) -> exp.Expr | None:
    """Return what a select item may turn into: rows into their number and back, an aggregate into its counterpart."""
    ranked = any(tree.args.get(clause) for clause in ("group", "order", "limit"))
    match item:
        case exp.Column() if len(tree.expressions) == 1 and not ranked:
            column = item.copy()
            return exp.Count(this=exp.Distinct(expressions=[column]) if tree.args.get("distinct") else column)
        case exp.Count(this=exp.Column()) if not tree.args.get("group"):
            return item.this.copy()
        case exp.Avg() | exp.Sum() | exp.Max() | exp.Min():
            return _COUNTERPARTS[type(item)](this=item.this.copy())
        case _:
            return None

"""A statement with a LIMIT, asked for one row more together with what ranks its rows.

Only to examine trusted statements: what a model wrote is never rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError


class OneMore(NamedTuple):
    """The statement, the limit that it had, and the places of the ranking values in its rows."""

    sql: str
    limit: int
    keys: tuple[int, ...]


def one_more(sql: str) -> OneMore | None:
    """Return `sql` with one row more, or None: no outer ORDER BY and LIMIT by a number, or ranking values that cannot
    be shown without changing the rows (DISTINCT and set operations show only what they select)."""
    if "limit" not in sql.lower():
        return None
    try:
        tree = parse_one(sql, read="sqlite")
    except SqlglotError:
        return None
    limit, order = tree.args.get("limit"), tree.args.get("order")
    count = limit.expression if isinstance(limit, exp.Limit) else None
    if not isinstance(tree, exp.Query) or order is None or not isinstance(count, exp.Literal) or count.is_string:
        return None
    wanted = int(count.this)
    keys = list(_keys(tree, [each.this for each in order.expressions]))
    if wanted < 1 or None in keys:
        return None
    tree.set("limit", exp.Limit(expression=exp.Literal.number(wanted + 1)))
    return OneMore(tree.sql(dialect="sqlite"), wanted, tuple(key for key in keys if key is not None))


def _keys(tree: exp.Query, ranking: list[exp.Expr]) -> Iterator[int | None]:
    """Yield the place of each ranking value among the columns; one that is not among them is added if it may be."""
    selected = list(tree.selects)
    may_add = isinstance(tree, exp.Select) and not tree.args.get("distinct") and not tree.is_star
    for value in ranking:
        place = _place(value, selected)
        if place is None and may_add and isinstance(tree, exp.Select):
            tree.select(value.copy(), copy=False)
            place = len(tree.selects) - 1
        yield place


def _place(value: exp.Expr, selected: list[exp.Expr]) -> int | None:
    if isinstance(value, exp.Literal) and not value.is_string:
        return int(value.this) - 1
    for place, column in enumerate(selected):
        named = isinstance(value, exp.Column) and not value.table and value.name.lower() == column.alias.lower() != ""
        if named or value == column.unalias():
            return place
    return None

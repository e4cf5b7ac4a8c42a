"""How a reader goes wrong: mistakes that analysts make, in SQL that was right."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

_LAST_YEAR: Final = re.compile(r"\b((?:19|20)\d\d)\b(?!.*\b(?:19|20)\d\d\b)", re.DOTALL)
_ROUNDED: Final = re.compile(r"ROUND\((.+?), \d\) AS")
_AGGREGATE: Final = re.compile(r"\b(MAX|MIN|SUM|AVG)\(")
_OTHER_AGGREGATE: Final = {"MAX": "MIN", "MIN": "MAX", "SUM": "AVG", "AVG": "SUM"}
_LAST_CONDITION: Final = re.compile(r"\A(.*) AND [\w.]+ = '(?:[^']|'')*'", re.DOTALL)
_LITERAL: Final = re.compile(r"= ('(?:[^']|'')*')")
_SELECT: Final = re.compile(r"\ASELECT ")

_MISNOMERS: Final = (
    ("od.UnitPrice", "od.Price"),
    ("o.OrderDate", "o.Date"),
    ("o.Freight", "o.FreightCost"),
    ("value_billions", "value"),
    ("fiscal_year", "year"),
    ("d.A3", "d.A2"),
    ("l.status", "l.loan_status"),
    ("l.amount", "l.payments"),
)
"""Columns, and what they are taken for: a name that does not exist, or the column beside."""


def misread(sql: str, chance: random.Random) -> str:
    """Return a statement that runs and answers something else than `sql`, which reads `SELECT …`.

    One of: another year, another aggregate, the other end of an order, a condition forgotten, no rounding, a column too
    many. Now and then the result is the same all the same, as with a sum that needs no rounding.
    """
    readings = [change(sql) for change in _MISREADINGS]
    return _one([reading for reading in readings if reading != sql], chance)


def misname(sql: str, hints: str, chance: random.Random) -> str:
    """Return `sql` with another name for one of its columns, unless `hints` happens to say the right one."""
    names = [(right, wrong) for right, wrong in _MISNOMERS if right in sql]
    right, wrong = _one(names, chance)
    return sql if right.rpartition(".")[2] in hints else sql.replace(right, wrong)


def _other_year(sql: str) -> str:
    return _LAST_YEAR.sub(lambda year: str(int(year[1]) - 1), sql)


def _other_aggregate(sql: str) -> str:
    return _AGGREGATE.sub(lambda found: f"{_OTHER_AGGREGATE[found[1]]}(", sql, count=1)


def _other_end(sql: str) -> str:
    return sql.replace(" DESC LIMIT", " LIMIT") if " DESC LIMIT" in sql else sql.replace(" LIMIT", " DESC LIMIT")


def _without_condition(sql: str) -> str:
    return _LAST_CONDITION.sub(r"\1", sql)


def _unrounded(sql: str) -> str:
    return _ROUNDED.sub(r"\1 AS", sql)


def _labelled(sql: str) -> str:
    literal = _LITERAL.search(sql)
    return _SELECT.sub(lambda _: f"SELECT {literal[1] if literal else 1} AS label, ", sql)


_MISREADINGS: Final = (_other_year, _other_aggregate, _other_end, _without_condition, _unrounded, _labelled)


def _one(choices: Sequence[T], chance: random.Random) -> T:
    # random() is the one method whose sequence Python keeps for a seed, so that versions agree
    return choices[int(chance.random() * len(choices))]

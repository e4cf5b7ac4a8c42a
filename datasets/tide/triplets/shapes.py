"""Which requests of a template fall into a tier, worked out from its parts, since parsing each takes too long.

A request is a skeleton with its reading, plus conditions, plus the joins that these need; the measures of Table 12 add
up over the parts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import TypeAlias

from ..parsing import tokenize
from ..structure import Structure, induced_tier, structure_of
from .model import Condition, Path, Template
from .plan import Wanted
from .request import joins_for

Shape: TypeAlias = "tuple[Path, tuple[Condition, ...]]"
"""What a request asks about, without its values."""

MOST_CONDITIONS = 3


@cache
def shapes(template: Template, wanted: Wanted) -> dict[int, tuple[Shape, ...]]:
    """Return the shapes that are wanted of a template by their number of conditions, none of one of another depth."""
    if template.depth != wanted.design.depth or (wanted.design.opens and template.narrows):
        return {}
    found = {
        count: tuple(
            (path, held)
            for path in template.readings()
            if len(path) == wanted.design.depth
            for held in combinations(template.conditions, count)
            if _go_together(held) and _is_of(wanted, measured(template, path, held))
        )
        for count in range(1, MOST_CONDITIONS + 1)
    }
    return {count: choices for count, choices in found.items() if choices}


def _is_of(wanted: Wanted, structure: Structure) -> bool:
    return wanted.tier in (None, induced_tier(structure, wanted.verdict, wanted.subtypes[0]))


def measured(template: Template, path: Path, held: tuple[Condition, ...]) -> Structure:
    """Return the measures of the query that asks for these conditions."""
    skeleton, base = _skeleton(template, path)
    predicates = [_sample(condition) for condition in held]
    joins = joins_for(template.subject, " ".join((skeleton, *predicates)))
    added = sum(map(_tokens, (*predicates, *joins))) + len(held) - 1  # the predicates with an AND between any two
    if not joins and not base.subquery_depth:  # the alias T1 is left out, everywhere
        added -= 2 + 2 * " ".join((skeleton, *predicates)).count("T1.")
    return replace(
        base,
        tokens=base.tokens + added,
        predicates=base.predicates + len(held),
        joins=base.joins + len(joins),
    )


def _go_together(held: tuple[Condition, ...]) -> bool:
    names = {condition.name for condition in held}
    return not any(names & set(condition.excludes) for condition in held)


@cache
def _skeleton(template: Template, path: Path) -> tuple[str, Structure]:
    """Return the query with one filter, `0`, and its measures without that."""
    fragments = {**template.readings()[path].sql, **dict.fromkeys(template.numbers, 1)}
    sql = template.sql.format(tables="x AS T1", where="0", **fragments)
    base = structure_of(sql)
    return sql, replace(base, tokens=base.tokens - 1, predicates=base.predicates - 1)


@cache
def _sample(condition: Condition) -> str:
    return condition.predicate(0 if condition.is_number else "x")


@cache
def _tokens(sql: str) -> int:
    return len(tokenize(sql))

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
from ..structure import CounterfactualVerdict, Structure, Subtype, Tier, induced_tier, structure_of
from .model import Condition, Path, Template
from .request import joins_for

Shape: TypeAlias = "tuple[Path, tuple[Condition, ...]]"
"""What a request asks about, without its values."""

MOST_CONDITIONS = 3


@cache
def shapes(
    template: Template, tier: Tier, verdict: CounterfactualVerdict, subtype: Subtype
) -> dict[int, tuple[Shape, ...]]:
    """Return the shapes of a tier by their number of conditions; every path in them resolves at least two layers."""
    found = {
        count: tuple(
            (path, held)
            for path in template.readings()
            if len(path) > 1
            for held in combinations(template.conditions, count)
            if _go_together(held) and induced_tier(measured(template, path, held), verdict, subtype) == tier
        )
        for count in range(1, MOST_CONDITIONS + 1)
    }
    return {count: choices for count, choices in found.items() if choices}


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

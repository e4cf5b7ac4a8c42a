"""How complex a query is: the five measures of Table 12, and a tier from them (§3.4, Appendix G.1).

The paper's tiers come from "a rule-based score combining anchor-SQL structure with chain- and drift-induced factors"
whose rule it does not print. Ours is frozen here. The structural part is all that differs between the pre- and the
post-drift query of one sample, and G.1 recomputes the tiers of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from sqlglot import TokenType, exp

from .canonical import conjuncts
from .parsing import parse, tokenize

Tier: TypeAlias = Literal["basic", "intermediate", "advanced"]
Subtype: TypeAlias = Literal["value", "constraint", "projection"]
CounterfactualVerdict: TypeAlias = Literal["eliminated", "transformed"]

_BASIC_UP_TO = 5
_ADVANCED_FROM = 12

_AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.GroupConcat)
_AGGREGATES_BY_NAME = frozenset({"TOTAL", "JSON_GROUP_ARRAY", "JSON_GROUP_OBJECT"})


@dataclass(frozen=True, slots=True)
class Structure:
    """The measures of Table 12 for one query, nested queries included.

    `tokens` are those of the tokenizer without comments and semicolons (`T1.city = 'Oslo'` has five);
    `predicates` are the members of the top-level AND of every WHERE clause; `joins` count commas too;
    `subquery_depth` is 0 for a query without nested queries, and the branches of a set operation nest nothing.
    """

    tokens: int
    predicates: int
    joins: int
    aggregations: int
    subquery_depth: int


@lru_cache(maxsize=4096)
def structure_of(sql: str) -> Structure:
    """Measure the query `sql`. Raises UnparsableSql when it is not one query."""
    nodes = list(parse(sql).walk())
    return Structure(
        tokens=sum(token.token_type is not TokenType.SEMICOLON for token in tokenize(sql)),
        predicates=sum(_predicates(node) for node in nodes),
        joins=sum(isinstance(node, exp.Join) for node in nodes),
        aggregations=sum(_aggregates(node) for node in nodes),
        subquery_depth=max(_depth(node) for node in nodes if isinstance(node, exp.Select)),
    )


def structural_score(structure: Structure) -> int:
    """Return the structural part of the complexity score: one point for each predicate, join, aggregation and ten
    tokens, two for each level of nesting.
    """
    counts = structure.predicates + structure.joins + structure.aggregations
    return counts + structure.tokens // 10 + 2 * structure.subquery_depth


def tier_of(score: int) -> Tier:
    """Return the tier of a complexity score: `basic` up to 5, `advanced` from 12.

    The thresholds were fixed once on BIRD's gold queries (dev and train) that have a WHERE clause, with verdicts and
    subtypes spread evenly over them: 29 % basic, 62 % intermediate, 9 % advanced, against 26.5, 61.3 and 12.3 % of the
    paper's anchors.
    """
    if score <= _BASIC_UP_TO:
        return "basic"
    return "advanced" if score >= _ADVANCED_FROM else "intermediate"


def induced_tier(structure: Structure, verdict: CounterfactualVerdict | None, subtype: Subtype | None) -> Tier:
    """Return the tier of a query of this structure in a sample with this chain and drift.

    To the structural score, a transformed second layer adds a point, for it has to be put in other words rather than
    dropped; so does a constraint-level drift, for which the target of the retraction must be inferred (§5.3).
    """
    return tier_of(structural_score(structure) + (verdict == "transformed") + (subtype == "constraint"))


def complexity_tier(sql: str, verdict: CounterfactualVerdict | None, subtype: Subtype | None) -> Tier:
    """Return the tier of the query `sql` in a sample with this chain and drift. Raises UnparsableSql."""
    return induced_tier(structure_of(sql), verdict, subtype)


def _predicates(node: exp.Expr) -> int:
    in_block = isinstance(node, exp.Where) and isinstance(node.parent, exp.Select)  # not that of an aggregate's FILTER
    return sum(1 for _ in conjuncts(node.this)) if in_block else 0


def _aggregates(node: exp.Expr) -> bool:
    by_name = isinstance(node, exp.Anonymous) and node.name.upper() in _AGGREGATES_BY_NAME
    return by_name or isinstance(node, _AGGREGATES)


def _depth(select: exp.Select) -> int:
    """Return how many queries enclose `select`; a branch of a set operation is not enclosed by it."""
    depth, node = 0, select
    while parent := node.parent:
        depth += isinstance(node, exp.Query) and not isinstance(parent, exp.SetOperation | exp.Subquery)
        node = parent
    return depth

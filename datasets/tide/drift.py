"""Whether a second query withdraws something that the first one committed to, and at which level (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .commitments import commitments
from .schema import Schema
from .units import Clause, Commitment

Verdict: TypeAlias = Literal["not_drift", "value", "constraint", "projection", "reject"]
FineSubtype: TypeAlias = Literal["select", "group_by", "having", "order_by", "limit_offset"]
Reason: TypeAlias = Literal[
    "no_change",
    "monotonic",
    "literal_replaced",
    "filters_removed",
    "output_changed",
    "both_sides_changed",
    "several_literals_changed",
    "filters_rewritten",
]
"""Why the verdict: the first two are `not_drift` (the signals of Table 7, step 6), the last three are `reject`."""

_FINE_SUBTYPES: tuple[FineSubtype, ...] = ("group_by", "having", "order_by", "limit_offset", "select")
"""In the order of precedence: a change of grouping or order drags the select list along, seldom the other way round."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The outcome of Algorithm 1, with what was retracted (pre without post) and added (post without pre)."""

    verdict: Verdict
    reason: Reason
    retracted: frozenset[Commitment]
    added: frozenset[Commitment]

    @property
    def fine_subtypes(self) -> tuple[FineSubtype, ...]:
        """The output clauses that lost a unit, for a projection-level drift; else none.

        A unit of a nested query counts for the outermost clause on its path.
        """
        if self.verdict != "projection":
            return ()
        lost = {_fine(unit.role) for unit in self.retracted}
        return tuple(subtype for subtype in _FINE_SUBTYPES if subtype in lost)

    @property
    def fine_subtype(self) -> FineSubtype | None:
        """The one fine subtype to label the drift with: the first of `fine_subtypes`."""
        return next(iter(self.fine_subtypes), None)


def drift(pre: str, post: str, schema: Schema | None = None) -> Drift:
    """Compare the commitments of two queries. Raises UnparsableSql when either is not one query."""
    return compare(commitments(pre, schema), commitments(post, schema))


def compare(pre: Set[Commitment], post: Set[Commitment]) -> Drift:
    """Return the outcome of Algorithm 1 for two commitment sets."""
    retracted, added = frozenset(pre - post), frozenset(post - pre)
    verdict, reason = _verdict(retracted, added)
    return Drift(verdict, reason, retracted, added)


def _verdict(retracted: Set[Commitment], added: Set[Commitment]) -> tuple[Verdict, Reason]:
    """Decide by the two differences: one side of the queries is equal exactly when neither holds a unit of it."""
    if not retracted:
        return "not_drift", "monotonic" if added else "no_change"
    sides = {unit.side for unit in retracted | added}
    if sides == {"filter"}:
        return _filter_verdict(retracted, added)
    if sides == {"output"}:
        return "projection", "output_changed"
    return "reject", "both_sides_changed"


def _filter_verdict(retracted: Set[Commitment], added: Set[Commitment]) -> tuple[Verdict, Reason]:
    if not added:
        return "constraint", "filters_removed"
    if len(retracted) == len(added) == 1:
        (old,), (new,) = retracted, added
        if (old.path, old.clause, old.structure) == (new.path, new.clause, new.structure):
            return _literal_verdict(old, new)
    return "reject", "filters_rewritten"


def _literal_verdict(old: Commitment, new: Commitment) -> tuple[Verdict, Reason]:
    """LitReplace is one literal: both bounds of a BETWEEN, or two members of an IN list, are more (§2.2)."""
    changed = sum(before != after for before, after in zip(old.literals, new.literals, strict=False))
    return ("value", "literal_replaced") if changed == 1 else ("reject", "several_literals_changed")


def _fine(role: Clause) -> FineSubtype | None:
    match role:
        case "limit" | "offset":
            return "limit_offset"
        case "where":
            return None
        case _:
            return role

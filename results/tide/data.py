"""The data set itself: its composition (§3.4), and what drifts do to the gold queries (Table 12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...datasets.tide.record import Plan
from ...datasets.tide.samples import KINDS, SUBTYPES, TIERS, VERDICTS
from ..table import Cell, Number, Table

_MEASURES = {
    "tokens": "SQL tokens",
    "predicates": "WHERE predicates",
    "joins": "JOIN count",
    "aggregations": "Aggregation count",
    "subquery_depth": "Subquery depth",
}


def composition(plan: Plan) -> Table:
    """How the samples fall on subtypes, verdicts and tiers (§3.4)."""
    # The p-protocol takes some of the same samples again.
    first = min((each.protocol for each in plan.samples), default="f")
    samples = [each for each in plan.samples if each.protocol == first]
    rows: list[list[Cell]] = []
    for name, values in (("kind", KINDS), ("subtype", SUBTYPES), ("verdict", VERDICTS), ("tier", TIERS)):
        counts: Counter[str] = Counter()
        for each in samples:
            counts[getattr(each, name)] += each.count
        whole = sum(counts.values())
        title = "set" if name == "kind" else name
        rows.extend([title, v, counts[v], Number(100 * counts[v] / whole)] for v in values if counts[v])
    return Table(
        key="composition",
        title="The samples",
        source="TIDE-Bench, §3.4",
        columns=("by", "value", "samples", "%"),
        labels=2,
        rows=rows,
        note=f"{plan.triplets:,} triplets.",
    )


def structural_change(plan: Plan) -> Table:
    """Mean change of five measures of structure from the gold before the drift to the gold after it (Table 12)."""
    changes = plan.changes
    return Table(
        key="structural_change",
        title="Mean structural change from pre- to post-drift gold",
        source="TIDE-Bench, Table 12",
        columns=("measure", *(each.subtype.capitalize() for each in changes)),
        rows=[
            ["triplets (n)", *(each.n for each in changes)],
            *(
                [title, *(Number(each.change[name], 2, signed=True) for each in changes)]
                for name, title in _MEASURES.items()
            ),
        ],
        note="Below zero: the query after the drift is simpler. All triplets of the set, so that no interval applies.",
    )


def tier_change(plan: Plan) -> Table:
    """Queries by tier before and after the drift (Appendix G.1)."""
    return Table(
        key="tier_change",
        title="Gold queries by tier, before and after the drift",
        source="TIDE-Bench, Appendix G.1",
        columns=("subtype", "n", *(f"{when} {tier}" for when in ("before", "after") for tier in TIERS)),
        rows=list(_tiers(plan)),
    )


def _tiers(plan: Plan) -> Iterator[list[Cell]]:
    for each in plan.changes:
        yield [each.subtype, each.n, *(each.before[tier] for tier in TIERS), *(each.after[tier] for tier in TIERS)]

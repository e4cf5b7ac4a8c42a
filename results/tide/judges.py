"""How far the two judges of a construction agree, from the first word that each had on a piece."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...datasets.tide.construction.record import CHAIN_CRITERIA, DRIFT_CRITERIA, BuildRecord, Vote
from ..statistics import cohen_kappa, raw_agreement
from ..table import Cell, Rate, Table

_KINDS = (("chain", CHAIN_CRITERIA, "94.7"), ("drift", DRIFT_CRITERIA, "96.6"))
"""What is judged, by what, and the published agreement (§3.2)."""


def agreement(records: Sequence[BuildRecord]) -> Table:
    """How far the judges agree on first attempts.

    What is rejected is asked for again, so that hard pieces would be counted up to as often as there are attempts.
    """
    rows: list[list[Cell]] = []
    for stage, criteria, published in _KINDS:
        judged = list(_pairs(records, stage))
        if judged:
            accepts = [(cluster, a.accepts, b.accepts) for cluster, a, b in judged]
            rows.append([stage, "all criteria", *_agreed(accepts), published])
            rows += [
                [stage, name, *_agreed([(c, a.passed[name], b.passed[name]) for c, a, b in judged]), None]
                for name in criteria
            ]
    return Table(
        key="agreement",
        title="Agreement between the judges",
        source="TIDE-Bench, §3.2",
        columns=("stage", "criterion", "candidates", "agree (%)", "κ", "published (%)"),
        labels=2,
        rows=rows,
        note="Over first attempts alone, as the paper had one: what a judge rejects is asked for again, and would be "
        "counted again. κ: Cohen's; none where both judges say the same of every candidate.",
    )


def _pairs(records: Sequence[BuildRecord], kind: str) -> Iterator[tuple[str, Vote, Vote]]:
    """Yield the two votes on each layer of a chain, or each drift, of a first attempt that has two; and the anchor."""
    for record in records:
        for name, stage in record.stages.items():
            votes = stage.attempts[0].votes if name.partition(" ")[0] == kind else ()
            for one, other in zip(votes[::2], votes[1::2], strict=True):
                if one.passed and other.passed:
                    yield record.anchor, one, other


def _agreed(votes: Sequence[tuple[str, bool, bool]]) -> list[Cell]:
    clusters = [cluster for cluster, _, _ in votes]
    interval = raw_agreement([(2 - a - b, a + b) for _, a, b in votes], clusters).interval
    agreed = sum(a == b for _, a, b in votes)
    rate = Rate(hits=agreed, scored=len(votes), planned=len(votes), low=interval.low, high=interval.high)
    kappa = cohen_kappa([a for _, a, _ in votes], [b for _, _, b in votes], clusters).value
    return [len(votes), rate, None if math.isnan(kappa) else round(kappa, 4)]

"""Do chain and drift fail on the same triplets? (§5.4)"""

from __future__ import annotations

from ...datasets.tide.samples import KINDS
from ..statistics import Estimate, joint_against_parts
from ..table import Cell, Difference, Number, Table, counted
from .dialogues import Dialogues, Part


def joint_against_product(dialogues: Dialogues) -> Table:
    """Joint DEA beside the product of Chain-only and Drift-only DEA, matched by triplet."""
    right = dialogues.metrics["DEA"]
    rows: list[list[Cell]] = []
    for model in dialogues.models:
        parts = [dialogues.part(model, "f", kind) for kind in KINDS]
        chain, drift, joint = dialogues.matched(*parts)
        planned = min(part.planned for part in parts)
        if not len(joint):
            rows.append([model or "all", *[None] * 7])
            continue
        found = joint_against_parts([right[chain], right[drift]], right[joint], dialogues.cluster[joint].tolist())
        shares = [dialogues.rate(Part(rows_of, planned), right) for rows_of in (chain, drift, joint)]
        rest = (found.excess, found.shared, found.added)
        rows.append([model or "all", *shares, percent(found.product), *(_points(each, planned) for each in rest)])
    table = Table(
        key="joint_against_product",
        title="Joint DEA% against the product of its parts",
        source="TIDE-Bench, §5.4",
        columns=("model", "Chain-only", "Drift-only", "Joint", "product", "excess", "of it shared", "of it added"),
        rows=rows,
        note="excess = Joint minus product, above zero when failures fall on the same triplets; shared: because a "
        "triplet is easy or hard for both parts alike; added: by meeting in one dialogue. Bootstrap over triplets, "
        "95 %; only triplets scored in all three sets. f-protocol.",
    )
    return counted(table)


def percent(estimate: Estimate) -> Number:
    """Return an estimate and its interval in percent."""
    return Number(100 * estimate.value, low=100 * estimate.interval.low, high=100 * estimate.interval.high)


def _points(estimate: Estimate, planned: int) -> Difference:
    return Difference(
        points=100 * estimate.value,
        low=100 * estimate.interval.low,
        high=100 * estimate.interval.high,
        n=estimate.n,
        planned=planned,
    )

"""Every metric on every sample set: of all triplets, by drift subtype, tier and verdict, and by plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...datasets.tide.metrics import METRICS, Metric
from ...datasets.tide.record import PROTOCOLS
from ...datasets.tide.samples import PAPERS_SHAPE, SUBTYPES, TIERS, VERDICTS, Kind, plan_in_words
from ..table import Cell, Table
from .accuracy import SET_NAMES
from .dialogues import ALL, Dialogues, Group, Part

SHOWN = 12
"""Rows among the other tables; alone the table is whole."""

_ORDERS = (("subtype", SUBTYPES), ("tier", TIERS), ("verdict", VERDICTS))


def breakdown(dialogues: Dialogues) -> Table:
    """All seven metrics in every group that is planned (Table 2), one row for each model."""
    rows = [
        row
        for by, value, group in _groups(dialogues)
        for kind in dialogues.taken("f")
        for model in dialogues.models
        if (row := _row(dialogues, (by, value), group, kind, model))
    ]
    return Table(
        key="metrics",
        title="The seven metrics by set, subtype, tier and verdict (%)",
        source="TIDE-Bench, Table 2",
        columns=("by", "value", "set", "model", "n", *(metric.name for metric in METRICS)),
        labels=4,
        rows=rows,
        excerpt=SHOWN,
        note="Subtype, tier and verdict are the triplet's, whichever of its patterns a sample activates. L2-IRp under "
        "the p-protocol, all others under the f-protocol; - where a metric is not taken.",
    )


def _groups(dialogues: Dialogues) -> Iterator[tuple[str, str, Group]]:
    yield "all", "", ALL
    for by, order in _ORDERS:
        for value in dialogues.groups(by, order):
            yield by, value, Group(**{by: value})
    if dialogues.shapes != [PAPERS_SHAPE]:
        for plan in map(plan_in_words, dialogues.shapes):
            yield "plan", plan, Group(plan=plan)


def _row(dialogues: Dialogues, name: Sequence[str], group: Group, kind: Kind, model: str | None) -> list[Cell] | None:
    """Return the row of a group, None where nothing of the kind is planned."""
    parts = {protocol: dialogues.part(model, protocol, kind, group) for protocol in PROTOCOLS}
    if not parts["f"].planned:
        return None
    cells = (_cell(dialogues, metric, kind, parts[metric.protocol]) for metric in METRICS)
    return [*name, SET_NAMES[kind], model or "all", parts["f"].planned, *cells]


def _cell(dialogues: Dialogues, metric: Metric, kind: Kind, part: Part) -> Cell:
    taken = kind in metric.kinds and part.planned
    return dialogues.rate(part, dialogues.metrics[metric.name]) if taken else None

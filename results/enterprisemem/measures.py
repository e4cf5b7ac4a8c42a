"""EnterpriseMem-Bench's observations: one per turn; its metric is execution accuracy, under every comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ...datasets.enterprisemem.record import TurnRecord
from ...datasets.enterprisemem.scoring import HEADLINE
from ...engine.sql.comparison import COMPARISONS
from ..measures import Measures, Observation
from ..reading import NothingScored, RunFolder
from .report import marks_of
from .sweep import read_sweep

METRICS: Final = {"EX": HEADLINE, **{f"EX-{name}": name for name in COMPARISONS if name != HEADLINE}}


def measures(runs: Sequence[RunFolder]) -> Measures:
    """Return the runs' turns, read as one sweep. Raises NothingScored when there is none yet."""
    sweep = read_sweep(runs)
    turns = sweep.turns
    if not turns.records:
        raise NothingScored("no turn is scored", runs)
    each = turns.plan.repeats * sum(kind.count for kind in turns.plan.turns)
    cells = [(m, c) for m in turns.plan.models for c in turns.plan.conditions if (m, c) in turns.cells]
    planned = Counter({(model, condition, metric): each for model, condition in cells for metric in METRICS})
    marks = dict(marks_of(runs, sweep))
    found = Measures(tuple(METRICS), [_observation(record) for record in turns.records], planned, marks)
    for run in runs:
        for line in run.lines():
            if line["k"] == "answer":
                found.pay(line["u"], line)
    return found


def _observation(record: TurnRecord) -> Observation:
    metrics = {name: record.agree.get(comparison, False) for name, comparison in METRICS.items()}
    return Observation(
        unit=f"{record.model}/{record.condition}/{record.session}/{record.repeat}",
        model=record.model,
        part=record.condition,
        item=f"{record.session}:{record.turn}" + (f"#{record.repeat}" if record.repeat else ""),
        cluster=record.cluster,
        outcome=record.detail or record.category,
        metrics=metrics | {"EX": record.correct},
    )

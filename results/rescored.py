"""What scoring a run again has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..adapters.base import Json
from .compare import flips
from .contrasts import Contrast, contrasts, sides_of_runs
from .measures import Measures
from .report import Report, parted
from .table import Cell, Table


def rescored(title: str, facts: Mapping[str, Json], before: Measures, after: Measures) -> Report:
    """Return what changed from one scoring of a run to a later one: metrics, flips, and outcomes of other kinds."""
    found = contrasts(sides_of_runs([("before", before), ("after", after)]), same_data=False)  # gold may be repaired
    names = [metric for metric in before.metrics if metric in after.metrics]
    tables, empty = parted(_tables(found, names))
    return Report(title=title, marks=after.marks, facts=facts, warnings=[], tables=tables, empty=empty)


def _tables(found: Sequence[Contrast], metrics: Sequence[str]) -> Iterator[Table]:
    yield _metrics(found, metrics)
    yield flips(found, metrics)
    yield _outcomes(found)


def _metrics(found: Sequence[Contrast], metrics: Sequence[str]) -> Table:
    rows: list[list[Cell]] = []
    for contrast in found:
        for metric in (metric for metric in metrics if metric in contrast.planned):
            pairs = [(a.metrics[metric], b.metrics[metric]) for a, b in contrast.pairs]
            counts = Counter(pairs)
            gained, lost = counts[False, True], counts[True, False]
            if gained or lost or metric == metrics[0]:
                before, after = (sum(pair[side] for pair in pairs) for side in (0, 1))
                rows.append([contrast.name, metric, len(pairs), before, after, gained, lost])
    return Table(
        key="changes",
        title="Right before and after, by metric",
        columns=("for", "metric", "n", "before", "after", "gained", "lost"),
        labels=2,
        rows=rows,
        note=f"Metrics without a change are left out, but for {metrics[0]}. Of all that were scored both times; "
        "counts of the same answers, so that no interval applies.",
    )


def _outcomes(found: Sequence[Contrast]) -> Table:
    counts = Counter(
        (contrast.name, a.outcome, b.outcome) for contrast in found for a, b in contrast.pairs if a.outcome != b.outcome
    )
    return Table(
        key="outcomes",
        title="Outcomes that changed",
        columns=("for", "before", "after", "count"),
        labels=3,
        rows=[[*labels, count] for labels, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))],
    )

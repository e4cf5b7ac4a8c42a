"""Rates and paired differences over clusters as cells, and the correction of all that stand in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from .statistics import clustered_proportion, holm, paired_proportions
from .statistics.totals import Labels, Values
from .table import Cell, Difference, Rate

AT_THE_ENDS: Final = (
    "At 0 and at 100 % nothing tells how alike these are, and each cluster counts once: the interval is wider there "
    "than just beside."
)
UNCORRECTED: Final = "Intervals are not corrected: one may leave out 0 where p is above 0.05."


def rate(hits: Values, clusters: Labels, planned: int, *, apart: bool = False) -> Rate:
    """Return the share of `hits`, of which `planned` are planned, with Wilson's interval at the effective size."""
    interval = clustered_proportion(hits, clusters).interval
    found = int(np.count_nonzero(hits))
    return Rate(hits=found, scored=len(hits), planned=planned, low=interval.low, high=interval.high, apart=apart)


def difference(of: Values, minus: Values, clusters: Labels, planned: int) -> Difference:
    """Return the share of successes in `of` minus that in `minus`, pair by pair, in percentage points.

    The interval is that of `paired_proportions`, p that of `sign_flip` over whole clusters, not corrected yet.
    """
    if not len(of):
        return Difference(points=None, planned=planned)
    found = paired_proportions(of, minus, clusters)
    estimate = found.difference
    return Difference(
        points=100 * estimate.value,
        low=100 * estimate.interval.low,
        high=100 * estimate.interval.high,
        n=len(of),
        planned=planned,
        p=found.p,
    )


def corrected(rows: Sequence[Sequence[Cell]]) -> tuple[list[list[Cell]], int]:
    """Return the rows with the p of every difference adjusted by Holm over all of them, and how many those are."""
    tests = [cell.p for row in rows for cell in row if isinstance(cell, Difference) and cell.p is not None]
    adjusted = iter(holm(tests))

    def adjust(cell: Cell) -> Cell:
        return replace(cell, p=next(adjusted)) if isinstance(cell, Difference) and cell.p is not None else cell

    return [[adjust(cell) for cell in row] for row in rows], len(tests)

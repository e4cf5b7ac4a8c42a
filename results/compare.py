"""Comparisons as tables: paired differences with corrected tests, what flipped, and what a gained point costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

import numpy as np

from ..adapters.base import Json
from .contrasts import Contrast
from .differences import UNCORRECTED, corrected, difference, rate
from .report import Report, parted
from .statistics import holm, mcnemar, paired_bootstrap
from .table import Cell, Difference, Number, Rate, Table, counted

LISTED: Final = 20
LEVEL: Final = 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """One contrast on one metric: both rates, their difference, and two more looks at it.

    `flips` counts what the other side gained and what it lost; `alone` is the p of the difference before it is
    corrected; `mcnemar` is the exact p that takes pairs as independent; `bootstrap` the interval, in points, of whole
    clusters drawn again.
    """

    contrast: Contrast
    metric: str
    rates: tuple[Rate, Rate]
    difference: Difference
    flips: tuple[int, int]
    alone: float | None
    mcnemar: float
    bootstrap: Number | None

    @property
    def complete(self) -> bool:
        """Whether every planned pair was scored on both sides."""
        return self.difference.n == self.difference.planned

    def worse(self, points: float) -> bool:
        """Whether the other side is worse by more than `points`, and the corrected test says so."""
        found, p = self.difference.points, self.difference.p
        return found is not None and p is not None and found < -points and p <= LEVEL


def judged(contrasts: Sequence[Contrast], metrics: Sequence[str]) -> list[Judged]:
    """Test every contrast on every metric that it has; both p are corrected by Holm over all of them."""
    found = [_test(contrast, metric) for contrast in contrasts for metric in metrics if metric in contrast.planned]
    rows, _ = corrected([[each.difference] for each in found])
    exact = holm([each.mcnemar for each in found])
    adjusted = zip(found, rows, exact, strict=True)
    return [replace(each, difference=row[0], mcnemar=p) for each, row, p in adjusted if isinstance(row[0], Difference)]


def comparison(
    found: Sequence[Judged],
    marks: Mapping[str, str],
    facts: Mapping[str, Json] | None = None,
    warnings: Sequence[str] = (),
) -> Report:
    """Return a comparison as a report; costs are those of points of the first metric."""
    missing = sum(each.difference.planned - each.difference.n for each in found)
    if missing:
        marks = {**marks, "INCOMPLETE": f"{missing:,} planned pairs are not scored on both sides and are left out"}
    others = ", ".join(dict.fromkeys(each.contrast.other for each in found))
    title = f"{others} compared with {found[0].contrast.baseline}"
    shown, empty = parted(tables(found))
    return Report(title=title, marks=marks, facts=facts or {}, warnings=warnings, tables=shown, empty=empty)


def tables(found: Sequence[Judged]) -> Iterator[Table]:
    """Yield the differences, two checks of them, the costs where there are any, and what flipped."""
    yield differences(found)
    yield checks(found)
    first = [each for each in found if each.metric == found[0].metric]
    if any(any(each.contrast.cost) for each in first):
        yield costs(first)
    metrics = list(dict.fromkeys(each.metric for each in found))
    contrasts = {(each.contrast.other, each.contrast.group): each.contrast for each in found}
    yield flips(list(contrasts.values()), metrics)


def differences(found: Sequence[Judged]) -> Table:
    """Each side's rate, and the paired difference with its test."""
    rows: list[list[Cell]] = [
        [*_names(each), *each.rates, each.difference, _p(each.difference.p), *each.flips] for each in found
    ]
    table = Table(
        key="differences",
        title=f"Paired differences from {found[0].contrast.baseline}, in percentage points",
        columns=("other", "for", "metric", "baseline %", "other %", "difference", "p", "gained", "lost"),
        labels=3,
        rows=rows,
        note="Over what is scored on both sides. Difference: other minus baseline, 95 % interval for paired "
        "proportions at the effective sample size; p: whole clusters flip signs, corrected by Holm over the "
        f"{len(found)} row{'s' * (len(found) != 1)}; * p ≤ 0.05. {UNCORRECTED} Gained, lost: right on the other side "
        "alone, on the baseline alone.",
    )
    return counted(table)


def checks(found: Sequence[Judged]) -> Table:
    """The same differences by two other methods."""
    rows: list[list[Cell]] = [
        [*_names(each), each.bootstrap, _p(each.alone), _p(each.difference.p), _p(each.mcnemar)] for each in found
    ]
    return Table(
        key="checks",
        title="The same by other methods",
        columns=("other", "for", "metric", "difference, bootstrap", "p alone", "p, sign flips", "p, McNemar"),
        labels=3,
        rows=rows,
        note="Bootstrap: 95 % (BCa), whole clusters of pairs are drawn again. McNemar's exact test takes every pair as "
        "independent, and so rejects too often where turns share a session. Both are corrected by Holm; p alone is "
        "that of the sign flips as if this were the only row.",
    )


def costs(found: Sequence[Judged]) -> Table:
    """What both sides cost over the compared dialogues, and the price of a gained point."""
    rows: list[list[Cell]] = [
        [each.contrast.other, each.contrast.name, *each.contrast.cost, each.difference, _price(each)] for each in found
    ]
    return Table(
        key="costs",
        title=f"Cost per gained point of {found[0].metric}",
        columns=("other", "for", "baseline USD", "other USD", "difference", "USD per gained point"),
        labels=2,
        rows=rows,
        note="Of the dialogues that both sides share. A price only where the other side is better and dearer.",
    )


def flips(contrasts: Sequence[Contrast], metrics: Sequence[str]) -> Table:
    """The observations that changed sides, and what they came to on either."""
    rows: list[list[Cell]] = [
        [contrast.other, contrast.name, b.item, metric, "gained" if after else "lost", a.outcome, b.outcome]
        for contrast in contrasts
        for a, b in contrast.pairs
        for metric in metrics
        if metric in a.metrics and metric in b.metrics
        if (after := b.metrics[metric]) != a.metrics[metric]
    ]
    return Table(
        key="flips",
        title="What flipped",
        columns=("other", "for", "item", "metric", "flip", "baseline's outcome", "other's outcome"),
        labels=3,
        excerpt=LISTED,
        rows=rows,
    )


def _test(contrast: Contrast, metric: str) -> Judged:
    pairs = [(a, b) for a, b in contrast.pairs if metric in a.metrics and metric in b.metrics]
    a, b = (np.array([pair[side].metrics[metric] for pair in pairs], np.bool_) for side in (0, 1))
    clusters = [one.cluster for one, _ in pairs]
    planned = contrast.planned[metric]
    gained, lost = int((b & ~a).sum()), int((a & ~b).sum())
    drawn = paired_bootstrap(b, a, clusters).difference.interval if len(set(clusters)) > 1 else None
    found = difference(b, a, clusters, planned)
    return Judged(
        contrast=contrast,
        metric=metric,
        rates=(rate(a, clusters, planned), rate(b, clusters, planned)),
        difference=found,
        flips=(gained, lost),
        alone=found.p,
        mcnemar=mcnemar(gained, lost, len(pairs)).p,
        bootstrap=drawn and Number(100 * float(b.mean() - a.mean()), 1, True, 100 * drawn.low, 100 * drawn.high),
    )


def _price(each: Judged) -> Cell:
    before, after = each.contrast.cost
    points = each.difference.points
    if before is None or after is None or points is None:
        return "unknown"
    if points <= 0:
        return "nothing gained"
    return "cheaper and better" if after <= before else (after - before) / Decimal(repr(points))


def _names(each: Judged) -> list[Cell]:
    return [each.contrast.other, each.contrast.name, each.metric]


def _p(p: float | None) -> Cell:
    return None if p is None else Number(p, 4)

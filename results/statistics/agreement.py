"""Agreement between annotators or judges, and acceptance by their vote."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .bootstrap import RESAMPLES, bootstrap_statistic, resampled_totals
from .clustered import clustered_proportion
from .estimate import Estimate
from .totals import Array, Labels, cluster_totals

Verdicts: TypeAlias = Sequence[Sequence[bool]]
"""One row per sample, in it one accept (true) or reject per annotator."""


def sample_verdicts(answers: Sequence[Sequence[Sequence[bool]]]) -> list[list[bool]]:
    """Fold checklists `answers[sample][annotator][item]` into verdicts: yes when every applicable item is a yes.

    Items that do not apply to a sample are simply absent. TIDE-Bench, Appendix C.3. Raises ValueError when a sample
    shows its annotators no or different numbers of items.
    """
    for index, sample in enumerate(answers):
        lengths = {len(items) for items in sample}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(f"sample {index}: every annotator must answer the same items, at least one")
    return [[all(items) for items in sample] for sample in answers]


def majority_acceptance(verdicts: Verdicts, clusters: Labels | None = None, *, level: float = 0.95) -> Estimate:
    """Return the share of samples that more than half of their annotators accept (3 of 5; a tie rejects).

    TIDE-Bench, §3.3 and Appendix C.3. With the verdicts of `sample_verdicts` the same annotators must pass every item,
    as §3.3 words it; with the answers to one item this is the item's pass rate (Table 9). `clusters` names the triplet
    of each sample where several share one; interval by `clustered_proportion`.
    """
    accepted = [sum(sample) * 2 > len(sample) for sample in verdicts]
    return clustered_proportion(accepted, _own(clusters, len(verdicts)), level=level)


def strict_acceptance(verdicts: Verdicts, clusters: Labels | None = None, *, level: float = 0.95) -> Estimate:
    """Return the share of samples that all of their annotators accept; otherwise as `majority_acceptance`."""
    accepted = [len(sample) > 0 and all(sample) for sample in verdicts]
    return clustered_proportion(accepted, _own(clusters, len(verdicts)), level=level)


def verdict_counts(verdicts: Verdicts) -> list[tuple[int, int]]:
    """Return rejects and accepts of each sample: the table that `fleiss_kappa` takes."""
    return [(len(sample) - sum(sample), sum(sample)) for sample in verdicts]


def raw_agreement(counts: ArrayLike, clusters: Labels | None = None, *, level: float = 0.95) -> Estimate:
    """Return the share of agreeing pairs of raters, averaged over the samples: P̄ of Fleiss (1971).

    `counts` (samples × categories) holds how many raters chose each category. With two raters, the share of samples on
    which they agree. Interval by `clustered_proportion`.
    """
    table = _table(counts)
    return clustered_proportion(_pair_agreement(table), _own(clusters, len(table)), level=level)


def fleiss_kappa(
    counts: ArrayLike,
    clusters: Labels | None = None,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Return Fleiss' κ of a table (samples × categories) of votes, with a cluster-bootstrap interval.

    κ = (P̄ − P̄ₑ)/(1 − P̄ₑ). P̄ is `raw_agreement`, P̄ₑ = Σ pⱼ² with pⱼ the share of all votes for category j. J. L.
    Fleiss (1971), "Measuring nominal scale agreement among many raters", Psychological Bulletin 76:378-382. The
    interval draws samples (or `clusters` of them): the standard error in that paper holds for κ = 0 only. Every sample
    must have the same number of votes, at least two. nan, with an unbounded interval, when all votes are for one
    category. Where one sample alone has votes for a second category, every draw that lacks it is without a κ, and none
    of the rest exceeds the estimate, at which the interval then ends; so it does where all annotators agree throughout.
    """
    table = _table(counts)
    totals = cluster_totals(_own(clusters, len(table)), _pair_agreement(table), np.ones(len(table)), *table.T)
    drawn = resampled_totals(totals, resamples, seed)
    return bootstrap_statistic(totals, drawn, _fleiss, n=len(table), level=level)


def cohen_kappa(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    clusters: Labels | None = None,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Return Cohen's κ = (P₀ − Pₑ)/(1 − Pₑ) of two raters' labels, with a cluster-bootstrap interval.

    Pₑ = Σ p_{a,j}·p_{b,j} over the categories, each rater with shares of their own. J. Cohen (1960), "A coefficient of
    agreement for nominal scales", Educational and Psychological Measurement 20:37-46. nan, with an unbounded interval,
    when both raters gave one and the same label throughout.
    """
    if len(a) != len(b):
        raise ValueError(f"both raters must label the same samples: {len(a)} and {len(b)} labels")
    labels = list(dict.fromkeys([*a, *b]))
    chosen_a, chosen_b = (np.array([[one == label for one in row] for label in labels], dtype=float) for row in (a, b))
    equal = [x == y for x, y in zip(a, b, strict=True)]
    totals = cluster_totals(_own(clusters, len(a)), equal, np.ones(len(a)), *chosen_a, *chosen_b)
    drawn = resampled_totals(totals, resamples, seed)
    return bootstrap_statistic(totals, drawn, _cohen, n=len(a), level=level)


def _fleiss(totals: Array) -> Array:
    """κ from Σ pair agreement, number of samples, votes by category."""
    observed, n, votes = totals[..., 0], totals[..., 1], totals[..., 2:]
    cast = votes.sum(axis=-1)
    expected = _divide(np.square(votes).sum(axis=-1), np.square(cast))
    return _divide(_divide(observed, n) - expected, 1 - expected)


def _cohen(totals: Array) -> Array:
    """κ from the number of equal labels, number of samples, then each rater's labels by category."""
    observed, n, labels = totals[..., 0], totals[..., 1], totals[..., 2:]
    half = labels.shape[-1] // 2
    expected = _divide((labels[..., :half] * labels[..., half:]).sum(axis=-1), np.square(n))
    return _divide(_divide(observed, n) - expected, 1 - expected)


def _divide(a: Array, b: Array) -> Array:
    return np.divide(a, b, out=np.full(np.shape(b), np.nan), where=b != 0)


def _pair_agreement(table: Array) -> Array:
    raters = table.sum(axis=1)
    return (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))


def _table(counts: ArrayLike) -> Array:
    table = np.asarray(counts, dtype=np.float64)
    if table.size == 0:
        return np.zeros((0, 2))
    if table.ndim != 2 or (table < 0).any():
        raise ValueError("a table (samples × categories) of vote counts is needed")
    raters = table.sum(axis=1)
    if raters.min() < 2 or raters.min() != raters.max():
        raise ValueError("every sample needs the same number of votes, at least two")
    return table


def _own(clusters: Labels | None, n: int) -> Labels:
    return range(n) if clusters is None else clusters

"""Comparisons of two systems on the same observations; every difference is a − b."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .bootstrap import RESAMPLES, Method, bootstrap_statistic, draws, quotient, resampled_totals
from .clustered import mean, variance_inflation
from .distributions import binomial_cdf, normal_critical, student_critical
from .estimate import Comparison, Estimate, Interval
from .totals import Array, Labels, Values, cluster_totals, floats

_EXACT_WORK = 300_000_000
"""Additions that the exact distribution of whole-numbered differences may cost: under a second."""


def mcnemar(only_a: int, only_b: int, n: int, *, level: float = 0.95, mid_p: bool = False) -> Comparison:
    """Compare two proportions on `n` independent pairs; a alone succeeded on `only_a` of them, b alone on `only_b`.

    p: the discordant pairs split like coin tosses, p = min(1, 2·P(X ≤ min)) with X ~ Bin(only_a + only_b, 1/2); the
    exact form of McNemar (1947), "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 12:153-157. `mid_p` takes half of the observed point off, which is closer to nominal
    though no longer guaranteed: Fagerland, Lydersen & Laake (2013), BMC Med. Res. Methodol. 13:91. `statistic` is
    `only_a`.

    Interval: Wald's with one success added to each discordant cell (Bonett & Price 2012, "Adjusted Wald confidence
    interval for a difference of binomial proportions based on paired data", J. Educ. Behav. Stat. 37:479-488).
    Assumes independent pairs; for turns of shared sessions use `paired_proportions`.

    Raises ValueError for counts that cannot be.
    """
    if min(only_a, only_b) < 0 or only_a + only_b > n:
        raise ValueError(f"impossible counts: {only_a} + {only_b} discordant of {n} pairs")
    discordant, fewer = only_a + only_b, min(only_a, only_b)
    tail = binomial_cdf(fewer, discordant, 0.5)
    p = min(1.0, tail + binomial_cdf(fewer - 1, discordant, 0.5) if mid_p else 2 * tail)
    interval = _bonett_price(only_a, only_b, n, normal_critical(level), level)
    if n == 0:
        return Comparison(Estimate(math.nan, 0, 0, math.inf, interval), 0.0, p)
    value = (only_a - only_b) / n
    se = math.sqrt(max(0.0, discordant / n - value**2) / n)
    return Comparison(Estimate(value, n, n, se, interval), float(only_a), p)


def paired_proportions(
    a: Values, b: Values, clusters: Labels, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Comparison:
    """Compare two systems' successes (0 or 1) on the same clustered observations: the headline comparison.

    p: `sign_flip`. Interval: that of `mcnemar` at the effective sample size (counts divided by the design effect of
    the differences, at least 1) with Student's quantile of G − 1 degrees of freedom, as `clustered_proportion` does
    for one proportion. When no pair differs each cluster counts as one pair, so it never collapses to a point.
    `statistic` is the number of successes of a above b.
    """
    x, y = _matched(a, b)
    if not (np.isin(x, (0, 1)).all() and np.isin(y, (0, 1)).all()):
        raise ValueError("successes must be 0 or 1; for other values use paired_means")
    plain = mean(x - y, clusters, level=level)
    n, groups = plain.n, plain.clusters
    shrink = max(1.0, variance_inflation(x - y, plain)) if groups > 1 else 1.0
    critical = student_critical(level, groups - 1)
    interval = _bonett_price(float((x > y).sum()) / shrink, float((x < y).sum()) / shrink, n / shrink, critical, level)
    p = sign_flip(x - y, clusters, resamples=resamples, seed=seed)
    return Comparison(Estimate(plain.value, n, groups, plain.se, interval), float((x - y).sum()), p)


def paired_means(
    a: Values, b: Values, clusters: Labels, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Comparison:
    """Compare the means of any quantity (tokens, cost, seconds) on the same clustered observations.

    Interval: the cluster-robust one of `clustered.mean` for the differences. p: `sign_flip`. `statistic` is the sum of
    the differences.
    """
    x, y = _matched(a, b)
    p = sign_flip(x - y, clusters, resamples=resamples, seed=seed)
    return Comparison(mean(x - y, clusters, level=level), math.fsum(x - y), p)


def paired_bootstrap(
    a: Values,
    b: Values,
    clusters: Labels,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    method: Method = "bca",
) -> Comparison:
    """Compare the means of two systems by drawing whole clusters of pairs; interval as in
    `bootstrap_statistic`.

    p: the share of draws whose distance from the estimate is at least the estimate's from zero, (1 + #)/(1 + draws);
    the draws are centred as Hall & Wilson (1991), "Two guidelines for bootstrap hypothesis testing", Biometrics
    47:757-762, ask. `statistic` is the difference of the means.
    """
    x, y = _matched(a, b)
    totals = cluster_totals(clusters, x - y, np.ones(len(x)))
    drawn = resampled_totals(totals, resamples, seed)
    estimate = bootstrap_statistic(totals, drawn, quotient, n=len(x), level=level, method=method)
    if estimate.clusters < 2:
        return Comparison(estimate, estimate.value, 1.0)
    distances = np.abs(quotient(drawn) - estimate.value)
    extreme = int((distances >= abs(estimate.value) - _slack(totals[:, 0]) / estimate.n).sum())
    return Comparison(estimate, estimate.value, (1 + extreme) / (1 + resamples))


def sign_flip(differences: Values, clusters: Labels, *, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Return the two-sided p of the sum of `differences` when each cluster's sign may be flipped.

    Without a difference between the systems their labels could be exchanged in any cluster as a whole, so all 2ᴳ
    patterns of signs are equally likely, and p is the share of them with a sum at least as far from zero. Fisher
    (1935), The Design of Experiments, §21; for clusters Gail, Mark, Carroll, Green & Pee (1996), Statistics in
    Medicine 15:1069-1092. With single observations as clusters this is McNemar's exact test.

    Exact where there are no more than `resamples` patterns, and for any number of clusters whose sums are whole numbers
    (their distribution is built up cluster by cluster: Pagano & Tritchler 1983, JASA 78:435-440). Else the patterns are
    drawn, and p = (1 + #)/(1 + draws), which is valid too (Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39).
    """
    sums = cluster_totals(clusters, differences)[:, 0]
    sums = sums[sums != 0]  # a zero has no sign to flip
    groups = len(sums)
    observed = abs(float(sums.sum())) - _slack(sums)
    if 2**groups <= resamples:
        patterns = np.arange(2**groups, dtype=np.int64)
        bits = patterns[:, None] >> np.arange(groups, dtype=np.int64) & 1
        return float((_flipped(sums, bits) >= observed).mean())
    if (sums == np.rint(sums)).all() and float(np.abs(sums).sum()) * groups <= _EXACT_WORK:
        return _exact_whole(sums)
    extreme = sum(int((_flipped(sums, bits) >= observed).sum()) for bits in draws(2, resamples, groups, seed))
    return (1 + extreme) / (1 + resamples)


def _flipped(sums: Array, bits: NDArray[np.int64]) -> Array:
    """Return |Σ ± sums| for each row of `bits` (patterns × clusters), 1 for plus."""
    return np.abs(((2 * bits - 1) * sums).sum(axis=1))


def _exact_whole(sums: Array) -> float:
    """Return the exact sign-flip p from the distribution of X, the sum of the sizes that drew a plus."""
    sizes = sorted(int(size) for size in np.abs(sums))
    whole, observed, reach = sum(sizes), abs(int(sums.sum())), 0
    chance = np.zeros(whole + 1)
    chance[0] = 1.0
    for size in sizes:
        reach += size
        plus = chance[: reach + 1 - size].copy()
        chance[size : reach + 1] += plus
        chance[: reach + 1] /= 2
    flipped = np.abs(2 * np.arange(whole + 1) - whole)
    return min(1.0, float(chance[flipped >= observed].sum()))


def _bonett_price(only_a: float, only_b: float, n: float, critical: float, level: float) -> Interval:
    if n == 0 or math.isinf(critical):
        return Interval(-1.0, 1.0, level)
    value, share_a, share_b = (only_a - only_b) / n, (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    centre = share_a - share_b
    half = critical * math.sqrt((share_a + share_b - centre**2) / (n + 2))
    # The added successes pull the centre towards zero; at low levels they must not push the estimate itself out.
    return Interval(max(-1.0, min(centre - half, value)), min(1.0, max(centre + half, value)), level)


def _matched(a: Values, b: Values) -> tuple[Array, Array]:
    x, y = floats(a), floats(b)
    if len(x) != len(y):
        raise ValueError(f"paired observations are needed: {len(x)} of a, {len(y)} of b")
    return x, y


def _slack(sums: Array) -> float:
    """Return what rounding may take from a sum of these numbers, so that ties count as ties."""
    return 1e-12 * float(np.abs(sums).sum())

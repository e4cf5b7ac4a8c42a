"""Cluster-robust estimates: observations of one session or anchor may depend on each other, clusters do not.

All rest on linearisation: an estimate's error is a sum of one contribution u per cluster, and its variance is
G/(G−1) · Σ u² over the G clusters (the sandwich estimator with the small-sample factor that is called CR1). Liang &
Zeger (1986), "Longitudinal data analysis using generalized linear models", Biometrika 73:13-22; Cameron & Miller
(2015), "A practitioner's guide to cluster-robust inference", J. Human Resources 50:317-372, §II and §VI (Student's
quantile with G − 1 degrees of freedom). With a single cluster nothing can be said: the standard error is infinite.
"""

from __future__ import annotations

import math

import numpy as np

from .distributions import student_critical
from .estimate import Estimate, Interval
from .intervals import wilson_limits
from .totals import Array, Labels, Values, cluster_totals, floats


def mean(values: Values, clusters: Labels, *, level: float = 0.95) -> Estimate:
    """Return the mean over all observations with its CR1 standard error and t interval.

    u = (Sᵍ − nᵍ·mean) / N for a cluster with sum Sᵍ over nᵍ observations. For shares and rates prefer
    `clustered_proportion`, whose interval stays inside [0, 1] and does not collapse at its ends.
    """
    return ratio(values, np.ones(len(values)), clusters, level=level)


def ratio(numerators: Values, denominators: Values, clusters: Labels, *, level: float = 0.95) -> Estimate:
    """Return Σ numerators / Σ denominators (cost per correct turn, share among a subset) with a t interval.

    u = (Aᵍ − R·Bᵍ) / ΣB: the delta method for a ratio of cluster totals. Cochran (1977), Sampling Techniques, 3rd ed.,
    ch. 6. Assumes that ΣB is far from zero against its own error. nan with an unbounded interval when ΣB is 0.
    """
    totals = cluster_totals(clusters, numerators, denominators)
    whole = float(totals[:, 1].sum())
    if whole == 0:
        return student_estimate(math.nan, math.inf, n=len(numerators), clusters=len(totals), level=level)
    value = float(totals[:, 0].sum()) / whole
    se = robust_error((totals[:, 0] - value * totals[:, 1]) / whole)
    return student_estimate(value, se, n=len(numerators), clusters=len(totals), level=level)


def strata_mean(values: Values, clusters: Labels, strata: Labels, *, level: float = 0.95) -> Estimate:
    """Return the plain mean of the strata's means (each source counts alike) with its CR1 error and t interval.

    u = Σ over strata h of (Sᵍʰ − nᵍʰ·meanʰ) / (Nʰ·H): the error of each stratum's mean, weighted 1/H for H strata;
    Cochran (1977), Sampling Techniques, 3rd ed., §5.3, for fixed strata. A cluster may have parts in several strata.
    """
    row, kinds = floats(values), sorted(set(strata), key=repr)
    on = [np.array([label == kind for label in strata], dtype=np.float64) for kind in kinds]
    if not len(row):
        return student_estimate(math.nan, math.inf, n=0, clusters=0, level=level)
    totals = cluster_totals(clusters, *(column for part in on for column in (row * part, part)))
    sums, counts = totals[:, 0::2], totals[:, 1::2]
    means = sums.sum(axis=0) / counts.sum(axis=0)
    u = ((sums - counts * means) / counts.sum(axis=0)).sum(axis=1) / len(means)
    return student_estimate(float(means.mean()), robust_error(u), n=len(row), clusters=len(totals), level=level)


def difference(a: Values, a_clusters: Labels, b: Values, b_clusters: Labels, *, level: float = 0.95) -> Estimate:
    """Return mean(a) − mean(b) for two sets of observations that need not match one to one.

    A cluster that has observations in both sets (the same session under two conditions, some turns unscored)
    contributes its covariance: u = (Aᵍ − nₐᵍ·mean a)/Nₐ − (Bᵍ − n_bᵍ·mean b)/N_b. Equal to the slope of a regression
    on an indicator of set a, with CR1's factor (N−1)/(N−2) · G/(G−1). For matched observations see `paired`.
    """
    x, y = floats(a), floats(b)
    on_a, on_b = np.r_[np.ones(len(x)), np.zeros(len(y))], np.r_[np.zeros(len(x)), np.ones(len(y))]
    values = np.r_[x, y]
    totals = cluster_totals([*a_clusters, *b_clusters], values * on_a, on_a, values * on_b, on_b)
    n, groups = len(values), len(totals)
    if len(x) == 0 or len(y) == 0:
        return student_estimate(math.nan, math.inf, n=n, clusters=groups, level=level)
    sums = totals.sum(axis=0)
    mean_a, mean_b = float(sums[0] / sums[1]), float(sums[2] / sums[3])
    u = (totals[:, 0] - mean_a * totals[:, 1]) / len(x) - (totals[:, 2] - mean_b * totals[:, 3]) / len(y)
    se = robust_error(u) * math.sqrt((n - 1) / (n - 2)) if n > 2 else math.inf
    return student_estimate(mean_a - mean_b, se, n=n, clusters=groups, level=level)


def clustered_proportion(successes: Values, clusters: Labels, *, level: float = 0.95) -> Estimate:
    """Return the share of successes with Wilson's interval at the effective sample size.

    n_eff = N / max(1, design effect) takes the place of n, and Student's quantile with G − 1 degrees of freedom that of
    the normal one. Korn & Graubard (1998), "Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data", Survey Methodology 24:193-201; intervals of this kind are compared by
    Dean & Pagano (2015), J. Survey Statistics and Methodology 3:484-503.

    `successes` are 0 or 1; shares between them are allowed and make the interval wide rather than narrow. When all
    are 0 or all are 1 the clusters are counted as one observation each, so the interval never collapses to a point.
    """
    row = floats(successes)
    if len(row) and not (row.min() >= 0 and row.max() <= 1):
        raise ValueError("successes must be 0 or 1, or shares between them")
    estimate = mean(row, clusters, level=level)
    if estimate.n == 0:
        return Estimate(math.nan, 0, 0, math.inf, Interval(0.0, 1.0, level))
    effective = estimate.n / max(1.0, variance_inflation(row, estimate))
    critical = student_critical(level, estimate.clusters - 1)
    low, high = wilson_limits(estimate.value, effective, critical)
    return Estimate(estimate.value, estimate.n, estimate.clusters, estimate.se, Interval(low, high, level))


def design_effect(values: Values, clusters: Labels) -> float:
    """Return how many times larger clustering makes the variance of the mean: CR1 variance over s²/N.

    Kish (1965), Survey Sampling, §8.2. Below 1 when clusters are more alike than chance would have it. When all values
    are equal they say nothing about dependence, and the worst case N/G is returned: each cluster one observation.
    nan without observations, infinite with a single cluster of differing values.
    """
    return variance_inflation(floats(values), mean(values, clusters))


def variance_inflation(row: Array, estimate: Estimate) -> float:
    """Return the `design_effect` of values whose clustered mean is known."""
    if estimate.n == 0:
        return math.nan
    if row.min() == row.max():
        return estimate.n / estimate.clusters
    return (
        estimate.se**2 * estimate.n / float(np.var(np.sort(row), ddof=1))
    )  # sorted: the order of observations leaves no trace


def robust_error(contributions: Array) -> float:
    """Return √(G/(G−1) · Σ u²) for one contribution u per cluster; infinite for fewer than two clusters."""
    groups = len(contributions)
    if groups < 2:
        return math.inf
    return math.sqrt(groups / (groups - 1) * float(np.square(contributions).sum()))


def student_estimate(value: float, se: float, *, n: int, clusters: int, level: float) -> Estimate:
    """Return `value` ± t·`se` with `clusters` − 1 degrees of freedom; unbounded where `se` is infinite."""
    critical = student_critical(level, clusters - 1)
    if math.isinf(se):
        return Estimate(value, n, clusters, se, Interval(-math.inf, math.inf, level))
    return Estimate(value, n, clusters, se, Interval(value - critical * se, value + critical * se, level))

"""Intervals for a proportion of independent observations."""

from __future__ import annotations

import math

from .distributions import beta_quantile, normal_critical
from .estimate import Estimate, Interval

FEW = 5
"""Fewer successes or failures than this, and `proportion` takes the exact interval."""


def proportion(k: int, n: int, *, level: float = 0.95) -> Estimate:
    """Return `k` of `n` with the interval that suits it: exact when successes or failures are few, else Wilson's.

    Wilson's interval has close to nominal coverage on average, but near 0 and 1 it falls far below it (about 0.83 at
    95 % for one particular p of the order 1/n, at every n); with fewer than `FEW` successes or failures the exact
    interval, which never falls below, is taken. Brown, Cai & DasGupta (2001), "Interval estimation for a binomial
    proportion", Statistical Science 16:101-133.

    Assumes independent observations with one success probability; for turns of shared sessions use
    `clustered.clustered_proportion`. With n = 0 the value is nan and the interval [0, 1].

    Raises ValueError unless 0 ≤ k ≤ n.
    """
    method = clopper_pearson if min(k, n - k) < FEW else wilson
    interval = method(k, n, level=level)
    if n == 0:
        return Estimate(math.nan, 0, 0, math.inf, interval)
    p = k / n
    return Estimate(p, n, n, math.sqrt(p * (1 - p) / n), interval)


def wilson(k: int, n: int, *, level: float = 0.95) -> Interval:
    """Return Wilson's score interval: all p with |k/n − p| ≤ z √(p(1−p)/n).

    E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference", JASA 22:209-212.
    Assumes independent observations and the normal approximation under p. [0, 1] when n = 0.
    """
    _check_counts(k, n)
    critical = normal_critical(level)
    low, high = wilson_limits(k / n, n, critical) if n else (0.0, 1.0)
    return Interval(low, high, level)


def clopper_pearson(k: int, n: int, *, level: float = 0.95) -> Interval:
    """Return the exact interval: all p that neither one-sided binomial test rejects at (1 − level)/2.

    Its ends are the quantiles of Beta(k, n−k+1) and Beta(k+1, n−k). C. J. Clopper & E. S. Pearson (1934), "The use of
    confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26:404-413.
    Assumes independent observations; coverage is at least `level` for every p and n. [0, 1] when n = 0.
    """
    _check_counts(k, n)
    normal_critical(level)  # refuses an impossible level
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else beta_quantile(tail, k, n - k + 1)
    # The upper end through the mirror image, so that swapping successes and failures mirrors the interval exactly.
    high = 1.0 if k == n else 1 - beta_quantile(tail, n - k, k + 1)
    return Interval(low, high, level)


def wilson_limits(p: float, n: float, critical: float) -> tuple[float, float]:
    """Return the score limits for a share `p` of `n` > 0 (effective, not always whole) observations.

    An infinite critical value gives (0, 1).
    """
    if math.isinf(critical):
        return 0.0, 1.0
    shrink = critical**2 / n
    centre = (p + shrink / 2) / (1 + shrink)
    half = critical / (1 + shrink) * math.sqrt(p * (1 - p) / n + shrink / (4 * n))
    # Rounding must not push p = 0 or p = 1 out of its own interval.
    return max(0.0, min(centre - half, p)), min(1.0, max(centre + half, p))


def _check_counts(k: int, n: int) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"successes must lie between 0 and n: {k} of {n}")

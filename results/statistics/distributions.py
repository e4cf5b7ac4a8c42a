"""The few distribution functions that the intervals and tests need, in plain Python."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_TINY = 1e-300
_PRECISION = 1e-16


def normal_critical(level: float) -> float:
    """Return z with P(|Z| ≤ z) = `level` for a standard normal Z."""
    _check_level(level)
    return _NORMAL.inv_cdf((1 + level) / 2)


@lru_cache(maxsize=4096)
def student_critical(level: float, df: int) -> float:
    """Return t with P(|T| ≤ t) = `level` for Student's T with `df` degrees of freedom; infinite for df ≤ 0.

    T² / (df + T²) is Beta(1/2, df/2) distributed (Johnson, Kotz & Balakrishnan 1995, ch. 28).
    """
    _check_level(level)
    if df <= 0:
        return math.inf
    y = beta_quantile(level, 0.5, df / 2)
    if y <= 0.5:
        return math.sqrt(df * y / (1 - y))
    x = beta_quantile(1 - level, df / 2, 0.5)  # 1 − y, where subtracting would lose it
    return math.sqrt(df * (1 - x) / x)


def binomial_cdf(k: int, n: int, p: float) -> float:
    """Return P(X ≤ k) for X ~ Binomial(n, p), which is I₁₋ₚ(n − k, k + 1)."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else beta_cdf(1 - p, n - k, k + 1)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function Iₓ(a, b), a, b > 0, to about 1e-11 for a + b up to 10⁴.

    Continued fraction of DLMF §8.17(v), evaluated by the modified Lentz method; it converges fast left of the mean, so
    the right side goes through Iₓ(a, b) = 1 − I₁₋ₓ(b, a).
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    left = x <= (a + 1) / (a + b + 2)
    return _left_beta_cdf(x, a, b) if left else 1 - _left_beta_cdf(1 - x, b, a)


def beta_quantile(q: float, a: float, b: float) -> float:
    """Return x with Iₓ(a, b) = q for 0 ≤ q ≤ 1, by bisection down to neighbouring floats: slow, and never astray."""
    if not 0 <= q <= 1:
        raise ValueError(f"a probability must lie in [0, 1], not {q}")
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if beta_cdf(middle, a, b) < q:
            low = middle
        else:
            high = middle
    return high if q > 0 else 0.0


def _left_beta_cdf(x: float, a: float, b: float) -> float:
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / (a * _continued_fraction(x, a, b))


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Return 1 + d₁/(1 + d₂/(1 + …)) with the coefficients of DLMF §8.17(v)."""
    value = c = 1.0
    d = 0.0
    for step in range(1, 20_000):
        m = step // 2
        if step % 2:
            numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / ((1 + numerator * d) or _TINY)
        c = (1 + numerator / c) or _TINY
        value *= c * d
        if abs(c * d - 1) < _PRECISION:
            return value
    raise ArithmeticError(f"the incomplete beta function did not converge at x={x}, a={a}, b={b}")


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a confidence level must lie strictly between 0 and 1, not {level}")

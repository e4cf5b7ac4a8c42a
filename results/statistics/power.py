"""The smallest true difference that a comparison of a given size would usually find.

Each function takes `alpha`, the two-sided level of the test (divide it by the size of the family when the tests are
corrected), and `power`, the wanted chance of finding the difference. Infinite when no possible difference is found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

from .distributions import student_critical


def detectable_paired(
    n: int, discordance: float, *, alpha: float = 0.05, power: float = 0.8, design_effect: float = 1.0
) -> float:
    """Return the smallest |difference| of two proportions on the same `n` observations, `discordance` of them unequal.

    Solves z_α·√ψ + z_β·√(ψ − δ²) = δ·√n for δ, with ψ the share of discordant pairs and n divided by `design_effect`.
    R. J. Connor (1987), "Sample size for testing differences in proportions for the paired-sample design", Biometrics
    43:207-211. δ cannot exceed ψ.
    """
    _check(alpha, power, design_effect, n)
    if not 0 <= discordance <= 1:
        raise ValueError(f"the discordant share must lie in [0, 1], not {discordance}")
    z_alpha, z_beta = _quantiles(alpha, power)
    root = math.sqrt(n / design_effect)

    def found(delta: float) -> bool:
        spread = math.sqrt(max(0.0, discordance - delta**2))
        return delta * root >= z_alpha * math.sqrt(discordance) + z_beta * spread

    return _smallest(found, discordance)


def detectable_unpaired(
    n_a: int, n_b: int, base: float, *, alpha: float = 0.05, power: float = 0.8, design_effect: float = 1.0
) -> float:
    """Return the smallest rise above a proportion `base` between two separate samples; for a fall pass 1 − `base`.

    Solves δ = z_α·√(p̄q̄(1/n_a + 1/n_b)) + z_β·√(p₁q₁/n_a + p₂q₂/n_b) with p₁ = base, p₂ = base + δ and p̄ their mean
    weighted by size; both sizes are divided by `design_effect`. J. L. Fleiss (1981), Statistical Methods for Rates and
    Proportions, 2nd ed., ch. 3, without continuity correction.
    """
    _check(alpha, power, design_effect, min(n_a, n_b))
    if not 0 <= base <= 1:
        raise ValueError(f"a proportion must lie in [0, 1], not {base}")
    if min(n_a, n_b) == 0:
        return math.inf
    z_alpha, z_beta = _quantiles(alpha, power)
    a, b = n_a / design_effect, n_b / design_effect

    def found(delta: float) -> bool:
        raised = min(1.0, base + delta)
        pooled = (a * base + b * raised) / (a + b)
        null = math.sqrt(pooled * (1 - pooled) * (1 / a + 1 / b))
        return delta >= z_alpha * null + z_beta * math.sqrt(base * (1 - base) / a + raised * (1 - raised) / b)

    return _smallest(found, 1 - base)


def detectable_from_error(se: float, clusters: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest difference for a comparison whose standard error is known: (t_α + t_β)·`se`.

    Student's quantiles with `clusters` − 1 degrees of freedom. H. S. Bloom (1995), "Minimum detectable effects: a
    simple way to report the statistical power of experimental designs", Evaluation Review 19:547-556. With `se`
    from `clustered` or `paired` it holds for any clustered comparison of any quantity.
    """
    _check(alpha, power, 1.0, clusters)
    if clusters < 2 or math.isinf(se):
        return math.inf
    df = clusters - 1
    return (student_critical(1 - alpha, df) + student_critical(2 * power - 1, df)) * se


def _smallest(found: Callable[[float], bool], largest: float) -> float:
    """Return the smallest δ in [0, `largest`] from which on a difference is found, by bisection."""
    if largest == 0 or not found(largest):
        return math.inf
    low, high = 0.0, largest
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2), normal.inv_cdf(power)


def _check(alpha: float, power: float, design_effect: float, n: int) -> None:
    if not 0 < alpha < 1 or not 0.5 < power < 1:
        raise ValueError(f"alpha must lie in (0, 1) and power in (0.5, 1), not {alpha} and {power}")
    if design_effect <= 0 or n < 0:
        raise ValueError(f"the design effect must be positive and sizes not negative: {design_effect}, {n}")

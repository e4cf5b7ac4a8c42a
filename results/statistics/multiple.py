"""Corrections for several tests at once. What belongs to one family is the caller's decision."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's adjusted p-values, in the order given.

    With p₍₁₎ ≤ … ≤ p₍ₘ₎ the i-th becomes max over j ≤ i of min(1, (m − j + 1)·p₍ⱼ₎). Rejecting what is ≤ α keeps the
    chance of any false rejection in the family at α, whatever the dependence between the tests, and rejects all
    that Bonferroni's correction does. S. Holm (1979), "A simple sequentially rejective multiple test procedure",
    Scandinavian J. Statistics 6:65-70.

    Raises ValueError for a number outside [0, 1].
    """
    _check(p_values)
    m = len(p_values)
    order = sorted(range(m), key=lambda index: p_values[index])
    steps = accumulate((min(1.0, (m - rank) * p_values[index]) for rank, index in enumerate(order)), max)
    adjusted = dict(zip(order, steps, strict=True))
    return tuple(adjusted[index] for index in range(m))


def bonferroni(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return min(1, m·p) for each of m p-values: never smaller than Holm's, for comparison with other reports.

    Raises ValueError for a number outside [0, 1].
    """
    _check(p_values)
    return tuple(min(1.0, len(p_values) * p) for p in p_values)


def _check(p_values: Sequence[float]) -> None:
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value must lie in [0, 1], not {p}")

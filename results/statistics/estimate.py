"""The three shapes that every function here returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval, both ends included; `level` is its nominal coverage in (0, 1)."""

    low: float
    high: float
    level: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, what it rests on, and how sure it is.

    `n` counts observations (turns, samples), `clusters` the independent groups among them (sessions, anchors; equal to
    `n` where every observation stands alone). `se` is the standard error by the method of the function that made it,
    infinite where it cannot be known (no observation, or a single cluster). Without observations `value` is nan and
    the interval is the whole range of the quantity.
    """

    value: float
    n: int
    clusters: int
    se: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """A difference `a − b` with its interval, and a two-sided test of "there is no difference".

    `statistic` is what the test orders outcomes by; each function says what it is. Interval and test may rest on
    different approximations, so that near the threshold one may exclude zero while the other does not: the test
    decides, the interval shows the size.
    """

    difference: Estimate
    statistic: float
    p: float

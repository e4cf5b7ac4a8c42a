"""What a bench yields: figures with their bounds, and ratios from rounds that alternate."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

ROUNDS: Final = 5
"""Alternating rounds behind a median: on a machine that others use only the ratio within a round means something."""

Unit: TypeAlias = Literal["s", "MB", "%", "×", "/s", ""]
Verdict: TypeAlias = Literal["met", "MISSED", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number. `at_most` and `at_least` are what we claim; a `ratio` is compared with the recorded one."""

    name: str
    value: float
    unit: Unit = ""
    at_most: float | None = None
    at_least: float | None = None
    ratio: bool = False

    @property
    def verdict(self) -> Verdict:
        """Whether what we claim holds; nothing where nothing is claimed."""
        if self.at_most is None and self.at_least is None:
            return ""
        low, high = self.at_least, self.at_most
        holds = (low is None or self.value >= low) and (high is None or self.value <= high)
        return "met" if holds else "MISSED"

    @property
    def bound(self) -> str:
        """What we claim, in words."""
        if self.at_most is not None:
            return f"≤ {human(self.at_most, self.unit)}"
        return "" if self.at_least is None else f"≥ {human(self.at_least, self.unit)}"


def human(value: float, unit: Unit) -> str:
    """Return a number as people write it: 1.24 ×, 97.6 %, 180 µs, 12 ms, 1.48 s, 1,540 /s."""
    if unit == "s" and 0 < value < 1:
        return f"{value * 1e6:,.0f} µs" if value < 1e-3 else f"{value * 1e3:,.0f} ms"
    digits = 2 if unit in ("s", "×") and value < 10 else 1 if unit in ("s", "%") else 0
    return f"{value:,.{digits}f} {unit}".rstrip()


Side: TypeAlias = Callable[[], float]
"""Measures one side of a comparison once and returns its cost."""


def rounds(sides: Mapping[str, Side], quick: bool = False) -> dict[str, list[float]]:
    """Measure all `sides` in five rounds (quick: one), every second one backwards, so that a drift favours nobody."""
    costs: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(1 if quick else ROUNDS):
        for name in list(sides)[:: -1 if number % 2 else 1]:
            gc.collect()
            costs[name].append(sides[name]())
    return costs


def median_ratio(costs: Sequence[float], baseline: Sequence[float]) -> float:
    """Return the median over the rounds of the ratio within a round."""
    return statistics.median(cost / base for cost, base in zip(costs, baseline, strict=True))

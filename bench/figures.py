"""What a bench yields: figures with their targets, and ratios from rounds that alternate."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ROUNDS: Final = 5
"""Alternating rounds behind a median: on a machine that others use only the ratio within a round means something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number. `at_most` and `at_least` are targets; a `ratio` is compared with the recorded one."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    ratio: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None where there is none."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least

    @property
    def target(self) -> str:
        """The target in words, or nothing."""
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return "" if self.at_least is None else f"≥ {self.at_least:g}"


Side = Callable[[], float]
"""Measures one side of a comparison once and returns its cost."""


def rounds(sides: Mapping[str, Side], quick: bool = False) -> dict[str, list[float]]:
    """Measure all `sides` in five rounds (quick: three), every second one backwards, so that a drift favours nobody."""
    costs: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(3 if quick else ROUNDS):
        for name in list(sides)[:: -1 if number % 2 else 1]:
            gc.collect()
            costs[name].append(sides[name]())
    return costs


def median_ratio(costs: Sequence[float], baseline: Sequence[float]) -> float:
    """Return the median over the rounds of the ratio within a round."""
    return statistics.median(cost / base for cost, base in zip(costs, baseline, strict=True))

"""What a rate must be, whatever the observations come to that were planned and not scored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """The value if everything unscored fails (`worst`) and if everything unscored succeeds (`best`)."""

    worst: float
    best: float


def rate_bounds(successes: int, scored: int, planned: int) -> Bounds:
    """Return [k/m, (k + m − n)/m] for k successes among n scored of m planned observations.

    Nothing is assumed about why observations are missing. Horowitz & Manski (1995), "Identification and robustness with
    contaminated and corrupted data", Econometrica 63:281-302; Manski (2003), Partial Identification of Probability
    Distributions. They hold for certain and say nothing about sampling: show them beside an interval, not in its
    place. (0, 1) when nothing was planned.

    Raises ValueError unless 0 ≤ k ≤ n ≤ m.
    """
    if not 0 <= successes <= scored <= planned:
        raise ValueError(f"impossible counts: {successes} of {scored} scored of {planned} planned")
    if planned == 0:
        return Bounds(0.0, 1.0)
    return Bounds(successes / planned, (successes + planned - scored) / planned)


def difference_bounds(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of a − b: a at its worst beside b at its best, and the reverse."""
    return Bounds(a.worst - b.best, a.best - b.worst)

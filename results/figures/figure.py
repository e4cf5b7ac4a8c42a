"""A figure as values, before anyone decides how it looks (`results.figures.draw` does)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..table import Difference, Rate

Range: TypeAlias = "tuple[float, float] | None"
"""The ends of an interval."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a panel, with the intervals of its coordinates where they have one."""

    x: float
    y: float
    x_range: Range = None
    y_range: Range = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points of one name. They are joined when `joined`; a `dotted` line marks the baseline.

    `style` picks colour, marker and dashes: equal numbers look alike in every panel of a figure.
    """

    name: str
    style: int
    points: Sequence[Point]
    joined: bool = True
    dotted: bool = False
    stepped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What a coordinate means. `ticks` name single values; `low` and `high` fix the ends that must be shown."""

    label: str
    ticks: Sequence[tuple[float, str]] = ()
    low: float | None = None
    high: float | None = None
    scale: Literal["linear", "log"] = "linear"


def percents(label: str) -> Axis:
    """Return an axis from 0 to 100 %."""
    return Axis(label=label, low=0, high=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pair of axes. `reference` is drawn thin behind the points: no difference, or equal coordinates.

    With `rows`, the y axis is a list of names from top to bottom, the series' points lie on it by number, and each row
    is labelled at the side instead of each series at its end; a row that begins with `# ` is a heading.
    """

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    reference: Literal["", "diagonal", "x=0", "y=0"] = ""
    rows: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Panels that are read together. `key` names its file; `source` is its place in the paper; `note` explains it."""

    key: str
    title: str
    panels: Sequence[Panel]
    source: str = ""
    note: str = ""


def percent(rate: Rate) -> tuple[float, Range] | None:
    """Return a rate and its interval in percent; None when nothing was scored."""
    if rate.value is None:
        return None
    return 100 * rate.value, (100 * rate.low, 100 * rate.high)


def points(difference: Difference) -> tuple[float, Range] | None:
    """Return a difference and its interval in percentage points; None when there is no pair."""
    if difference.points is None:
        return None
    if difference.low is None or difference.high is None:
        return difference.points, None
    return difference.points, (difference.low, difference.high)


def line(xs: Sequence[float], values: Sequence[tuple[float, Range] | None], moved: float = 0) -> list[Point]:
    """Return a point per x whose value is known, its interval along y; `moved` to the side so that none is hidden."""
    found = zip(xs, values, strict=True)
    return [Point(x + moved, value[0], y_range=value[1]) for x, value in found if value is not None]


def beside(place: int, count: int, width: float = 0.3) -> float:
    """Return how far the series at `place` of `count` moves to the side; together they take up `width`."""
    return width * (place - (count - 1) / 2) / max(count, 6)


def crossed(x: tuple[float, Range] | None, y: tuple[float, Range] | None) -> list[Point]:
    """Return the one point of two values with both intervals; none when either is unknown."""
    return [] if x is None or y is None else [Point(x[0], y[0], x[1], y[1])]

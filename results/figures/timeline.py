"""How a run went over time, from its pulse: a figure of operations, which hold clocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from ...engine.journal import Fields
from ..operations import Operations
from .figure import Axis, Figure, Panel, Point, Series

Read = Callable[[Fields], float]

FEWEST: Final = 3
"""Beats without which there is no course to show: a run beats about once a second."""

UNITS: Final = ((7200.0, 3600.0, "hours"), (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))
"""From how many seconds of work on it is told in which unit, and that unit in seconds."""


def timeline(operations: Operations, key: str) -> Figure | None:
    """Return throughput, calls in flight, failed attempts and limits over the time worked; None when it was too short.

    Parts of the run stand end to end: what lies between a kill and the resume is no work.
    """
    parts = [part.pulses for part in operations.parts if part.pulses]
    if sum(map(len, parts)) < FEWEST:
        return None
    starts = [_moment(part.began) for part in operations.parts if part.pulses]
    worked = sum(_moment(beats[-1]["at"]) - start for start, beats in zip(starts, parts, strict=True))
    unit, name = next((unit, name) for least, unit, name in UNITS if worked >= least)
    axis = Axis(label=f"{name} of work", low=0, high=worked / unit)

    def panel(title: str, label: str, series: Sequence[Series]) -> Panel:
        return Panel(title=title, x=axis, y=Axis(label=label, low=0), series=series)

    def curve(name: str, style: int, read: Read, *, dotted: bool = False) -> Series:
        points = list(_level(parts, starts, unit, read))
        return Series(name=name, style=style, points=points, stepped=True, dotted=dotted)

    def speed(name: str, style: int, read: Read) -> Series:
        return Series(name=name, style=style, points=list(_rate(parts, starts, unit, read)), stepped=True)

    kinds = sorted({kind for beats in parts for beat in beats for kind in beat["retries"]})
    accounts = sorted({account for beats in parts for beat in beats for account in beat["limits"]})
    panels = [
        panel("Throughput", "answers per second", [speed("answers", 0, lambda beat: beat["answers"])]),
        panel(
            "Calls in flight",
            "calls",
            [
                curve("in flight", 0, lambda beat: beat["flight"]),
                curve("limit", 2, lambda beat: sum(bound for bound, _ in beat["limits"].values()), dotted=True),
            ],
        ),
    ]
    if kinds:
        found = [speed(kind, n, lambda beat, kind=kind: beat["retries"].get(kind, 0)) for n, kind in enumerate(kinds)]
        panels.append(panel("Failed attempts, retried", "so far", [_summed(series, unit) for series in found]))
    rates = [
        curve(account, n, lambda beat, account=account: _per_minute(beat, account))
        for n, account in enumerate(accounts)
        if any(beat["limits"].get(account, (0, None))[1] for beats in parts for beat in beats)
    ]
    if rates:
        panels.append(panel("Limits on requests", "per minute", rates))
    return Figure(
        key=key,
        title="The run over time",
        panels=panels,
        note="Processes that worked on the run stand end to end, with a gap between them.",
    )


def _summed(series: Series, unit: float) -> Series:
    """Return how often something had happened, from how often it happens per second."""
    total, points = 0.0, list[Point]()
    for point, after in pairwise(series.points):
        points.append(Point(point.x, total))
        if not math.isnan(point.y) and after.x > point.x:
            total += point.y * (after.x - point.x) * unit
    return replace(series, points=[*points, Point(series.points[-1].x, total)])


def _per_minute(beat: Fields, account: str) -> float:
    limit = beat["limits"].get(account, (0, None))[1]
    return math.nan if limit is None else limit


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _times(parts: Sequence[Sequence[Fields]], starts: Sequence[float], unit: float) -> Iterator[list[float]]:
    """Yield each part's times, in `unit`s of seconds since the work began."""
    worked = 0.0
    for beats, start in zip(parts, starts, strict=True):
        yield [(worked + _moment(beat["at"]) - start) / unit for beat in beats]
        worked += _moment(beats[-1]["at"]) - start


def _level(parts: Sequence[Sequence[Fields]], starts: Sequence[float], unit: float, read: Read) -> Iterator[Point]:
    for times, beats in zip(_times(parts, starts, unit), parts, strict=True):
        if beats is not parts[0]:
            yield Point(times[0], math.nan)
        yield from (Point(time, read(beat)) for time, beat in zip(times, beats, strict=True))


def _rate(parts: Sequence[Sequence[Fields]], starts: Sequence[float], unit: float, read: Read) -> Iterator[Point]:
    """Yield how fast a count grows, per second, from each beat to the next."""
    worked = 0.0
    for times, beats in zip(_times(parts, starts, unit), parts, strict=True):
        if beats is not parts[0]:
            yield Point(worked, math.nan)
        steps = pairwise([(worked, 0.0), *((time, read(beat)) for time, beat in zip(times, beats, strict=True))])
        found = [(before, time, now - last) for (before, last), (time, now) in steps if time > before]
        yield from (Point(before, grown / ((time - before) * unit)) for before, time, grown in found)
        if found:
            before, time, grown = found[-1]
            yield Point(time, grown / ((time - before) * unit))
        worked = times[-1]

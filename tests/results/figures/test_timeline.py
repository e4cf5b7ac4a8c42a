"""The timeline of a run, from its pulse."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from turntide.engine.cli import main
from turntide.engine.journal import Fields, Journal
from turntide.results.figures.timeline import timeline
from turntide.results.operations import Operations
from turntide.results.reading import open_run

from ...support.sweeps import Sweep, Talk, write

SWEEP = Sweep(talks=[Talk(name="NW-1")])


def beat(second: int, answers: int, errors: int = 0) -> Fields:
    limits = {"sim/default": [64, 600.0]}
    at = f"2026-11-30T10:00:{second:02}+00:00"
    retries = {"server": errors} if errors else {}
    return {"k": "pulse", "at": at, "answers": answers, "flight": 3, "retries": retries, "limits": limits}


def began(second: int) -> Fields:
    return {"k": "part", "began": f"2026-11-30T10:00:{second:02}+00:00", "planned": {"sim/one": 4}}


def beaten(folder: Path) -> Path:
    """Return a run of two parts: the first answers 10 a second for two seconds, the second, half a minute later, 5."""
    write(folder, SWEEP)
    with Journal.open(folder / "journal.jsonl") as journal:
        for line in (began(0), beat(1, 10), beat(2, 20, 1), began(30), beat(31, 5, 2), beat(32, 10, 2)):
            journal.append(line)
    return folder


def test_parts_stand_end_to_end_and_counts_go_on(tmp_path: Path) -> None:
    figure = timeline(Operations.of(open_run(beaten(tmp_path))), "timeline")
    assert figure
    speed, flight, failed, limits = (panel.series[0] for panel in figure.panels)
    shown = [(round(point.x), round(point.y)) for point in speed.points if not math.isnan(point.y)]
    assert shown == [(0, 10), (1, 10), (2, 10), (2, 5), (3, 5), (4, 5)]
    assert {point.y for point in flight.points if not math.isnan(point.y)} == {3}
    assert [round(point.y) for point in failed.points][-1] == 3
    assert (limits.name, limits.points[-1].y) == ("sim/default", 600)


@pytest.mark.parametrize(("minutes", "unit", "end"), [(1, "seconds", 60), (3, "minutes", 3), (150, "hours", 2.5)])
def test_time_is_told_in_a_unit_that_fits_and_all_panels_share_it(
    tmp_path: Path, minutes: int, unit: str, end: float
) -> None:
    write(tmp_path, SWEEP)
    last = datetime(2026, 11, 30, 10, tzinfo=UTC) + timedelta(minutes=minutes)
    with Journal.open(tmp_path / "journal.jsonl") as journal:
        for line in (began(0), beat(1, 10), beat(2, 20), {**beat(0, 30), "at": last.isoformat()}):
            journal.append(line)
    figure = timeline(Operations.of(open_run(tmp_path)), "timeline")
    assert figure
    assert {(panel.x.label, panel.x.low, panel.x.high) for panel in figure.panels} == {(f"{unit} of work", 0, end)}


def test_a_run_of_hardly_a_beat_has_none(tmp_path: Path) -> None:
    write(tmp_path, SWEEP)
    for line in ([], [began(0)], [beat(1, 10)], [beat(2, 20)]):
        with Journal.open(tmp_path / "journal.jsonl") as journal:
            for each in line:
                journal.append(each)
        assert timeline(Operations.of(open_run(tmp_path)), "timeline") is None


def test_it_comes_with_the_operations_alone(tmp_path: Path) -> None:
    run, out = str(beaten(tmp_path / "run")), tmp_path / "out"
    assert main(["report", run, "--figures", str(out)]) == 0
    assert not (out / "timeline.svg").exists()
    assert main(["report", run, "--figures", str(out), "--operations"]) == 0
    assert (out / "timeline.svg").exists()

"""What the benchmarks' figures show: the papers' figures with the numbers of the tables, and nothing without data."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from turntide.engine.cli import main
from turntide.results.enterprisemem.report import report
from turntide.results.figures.figure import Figure
from turntide.results.figures.from_tables import cost_figure
from turntide.results.reading import open_run
from turntide.results.spending import Spent, cost
from turntide.results.table import Rate
from turntide.results.tide.dialogues import Dialogues
from turntide.results.tide.figures import figures as tide_figures
from turntide.results.tide.report import tables as tide_tables

from ...support.sweeps import Sweep, Talk, write

TALKS = [Talk(name="NW-1"), Talk(name="NW-2", turns=4), Talk(name="SEC-2", source="sec_edgar", turns=4)]
SWEEP = Sweep(talks=TALKS, models=("sim/one", "sim/two"), conditions=("A", "B", "B_wm5", "C", "D"))


def named(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.key: figure for figure in figures}


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    run = open_run(write(tmp_path_factory.mktemp("run"), SWEEP))
    return named(list(report([run]).figures))


def test_every_figure_of_enterprisemem_is_there(ours: dict[str, Figure]) -> None:
    assert list(ours) == ["collapse", "mbs", "ablation", "regression", "cost"]
    assert [panel.title for panel in ours["collapse"].panels] == ["one", "two"]
    assert [panel.title for panel in ours["mbs"].panels] == ["B minus A", "B_wm5 minus A", "C minus A", "D minus A"]
    assert [panel.title for panel in ours["regression"].panels] == ["northwind", "sec_edgar"]


def test_without_memory_the_line_is_dotted_and_every_point_has_its_interval(ours: dict[str, Figure]) -> None:
    series = ours["collapse"].panels[0].series
    assert [(each.name, each.dotted) for each in series] == [
        (name, name == "A") for name in ("A", "B", "B_wm5", "C", "D")
    ]
    assert all(point.y_range for each in series for point in each.points)
    assert series[0].points[0].y == 100


def test_what_was_not_run_has_no_figure(tmp_path: Path) -> None:
    run = open_run(write(tmp_path, replace(SWEEP, conditions=("B",))))
    assert list(named(list(report([run]).figures))) == ["collapse", "cost"]


def test_every_figure_of_tide_is_there(dialogues: Dialogues) -> None:
    tables = {table.key: table for table in tide_tables(dialogues)}
    spent = {(model, "f"): Spent(answers=10, input=100) for model in ("good", "poor")}
    tables["cost"] = cost(spent, "protocol")
    found = named(tide_figures(tables))
    assert list(found) == ["layers", "asking", "drift_to_joint", "dra_by_subtype", "cost"]
    assert [panel.title for panel in found["drift_to_joint"].panels] == ["DRR", "DRA", "DEA"]
    good = found["layers"].panels[0].series[0]
    assert (good.name, good.points[0].x, good.points[0].y) == ("good", 100, 100)


def test_cost_is_money_where_there_is_a_price_and_tokens_elsewhere() -> None:
    rate = Rate(hits=1, scored=2, planned=2, low=0.1, high=0.9)
    cells = [("B", "m", "B", rate), ("B", "n", "B", rate)]
    for usd, label in ((Decimal("0.5"), "USD per 1,000 turns"), (Decimal(0), "Tokens per turn")):
        spent = {(m, "B"): Spent(answers=10, input=100, output=10, usd=usd) for m in ("m", "n")}
        figure = cost_figure(cells, cost(spent, "condition"), "condition", "EX%", "turns")
        assert figure
        assert figure.panels[0].x.label == label
    assert figure.panels[0].series[0].points[0].x == 11  # pyright: ignore[reportOptionalMemberAccess]


def test_points_of_one_turn_stand_in_one_place(tmp_path: Path) -> None:
    run = open_run(write(tmp_path, replace(SWEEP, talks=TALKS[:1])))
    figures = named(list(report([run]).figures))
    for panel in (*figures["collapse"].panels, *figures["mbs"].panels):
        assert panel.x.low is not None
        assert panel.x.high is not None
        xs = [point.x for series in panel.series for point in series.points]
        assert max(xs) - min(xs) < (1 / 8) * (panel.x.high - panel.x.low)


def test_the_command_writes_each_as_svg_and_pdf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(tmp_path / "run", replace(SWEEP, conditions=("A", "B")))
    assert main(["report", str(run), "--figures", str(tmp_path / "out")]) == 0
    assert "4 figures as SVG and PDF" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "out").iterdir())[:2] == ["collapse.pdf", "collapse.svg"]

"""Figures as drawings: deterministic, in the page's colours, with names that stand clear of each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.font_manager import FontEntry, fontManager
from turntide.results.figures.draw import draw, draw_panels, fonts, spread
from turntide.results.figures.figure import Axis, Figure, Panel, Point, Series, line, percents
from turntide.results.figures.style import FONT, ROLES, SERIES, dashes, marker
from turntide.results.figures.themed import themed

FIGURE = Figure(
    key="made",
    title="A made-up figure",
    panels=[
        Panel(
            title="One <panel>",
            x=Axis(label="turn"),
            y=percents("EX%"),
            series=[
                Series(name=f"model {n}", style=n, points=line([1, 2], [(90, (80, 95)), (10 * n, (5, 60))]))
                for n in range(3)
            ],
        )
    ],
)


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_equal_figures_give_equal_bytes_without_a_date(kind: str) -> None:
    first, second = (draw(FIGURE, kind) for _ in range(2))  # pyright: ignore[reportArgumentType]
    assert first == second
    assert b"Date" not in first


def test_text_stays_text_and_follows_the_theme_without_inline_style() -> None:
    (svg,) = draw_panels(FIGURE)
    shown = themed(svg, "what it shows")
    for words in ("One &lt;panel&gt;", "model 2", 'aria-label="what it shows"', "var(--series-1)", "var(--ink)"):
        assert words in shown
    assert "style=" not in shown
    assert "<style" not in shown
    assert not set(re.findall("#[0-9a-f]{6}", shown)) & ROLES.keys()


def test_series_differ_in_marker_and_dashes_and_not_by_colour_alone() -> None:
    styles = range(2 * len(SERIES))
    assert len({(marker(style), str(dashes(style))) for style in styles}) == len(styles)


@pytest.mark.parametrize("name", ["模型 🙂", "x" * 200, "$\\frac$ and a_b^$"])
def test_a_name_that_cannot_be_drawn_well_is_drawn_in_silence(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    panel = replace(FIGURE.panels[0], title=name)
    named = replace(panel, series=[replace(panel.series[0], name=name)])
    listed = replace(panel, series=[Series(name=name, style=0, points=[Point(0, 1)])], rows=["# all", name])
    equal = replace(listed, x=Axis(label="points", low=0, high=0))
    for svg in draw_panels(replace(FIGURE, panels=[named, listed, equal])):  # a warning would be an error here
        assert name in svg
    assert capfd.readouterr() == ("", "")


def test_fonts_that_are_installed_help_out_where_ours_has_no_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fontManager, "ttflist", [FontEntry(name=name) for name in ("Any", "PingFang SC")])
    assert fonts(["gpt-5", "Größe"]) == [FONT]
    assert fonts(["gpt-5", "模型"]) == [FONT, "PingFang SC"]


@given(st.lists(st.floats(-1, 2), max_size=12), st.floats(0.01, 0.2))
def test_names_keep_their_order_and_their_distance_and_stay_inside(wanted: Sequence[float], gap: float) -> None:
    found = spread(wanted, gap, 0.02, 1.04)
    places = sorted(found)
    assert all(upper - lower >= gap - 1e-9 for lower, upper in pairwise(places))
    assert not places or places[-1] <= 1.04 + 1e-9
    assert not places or places[0] >= min(0.02, 1.04 - (len(wanted) - 1) * gap) - 1e-9
    assert [found[each] for each in sorted(range(len(wanted)), key=lambda each: (wanted[each], -each))] == places


def test_a_name_with_room_stays_where_its_point_is() -> None:
    assert spread([0.1, 0.5, 0.9], 0.1) == pytest.approx([0.1, 0.5, 0.9])  # pyright: ignore[reportUnknownMemberType]

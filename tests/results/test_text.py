"""Tables as text: nothing is lost, nothing is obeyed."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.results.table import Cell, Difference, Rate, Table
from turntide.results.text import cell_text, printable, render

EX = Rate(hits=171, scored=200, planned=200, low=0.8, high=0.9)
GAIN = Difference(points=4.5, low=1.2, high=7.8, n=200, planned=200, p=0.01)


def grid(*rows: Sequence[Cell], **parts: object) -> Table:
    return Table(key="t", title="T", columns=("model", "A", "B"), rows=rows, **parts)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("cell", "full", "brief"),
    [
        (EX, "85.5 [80.0, 90.0]", "85.5"),
        (Rate(hits=1, scored=2, planned=1400, low=0, high=1), "50.0 [0.0, 100.0] (2/1,400)", "50.0 (2/1,400)"),
        (Rate(hits=0, scored=0, planned=5, low=0, high=1), "-", "-"),
        (GAIN, "+4.5 [+1.2, +7.8]*", "+4.5*"),
        (
            Difference(points=-0.04, low=-1, high=0.04, n=9, planned=10, p=0.051),
            "+0.0 [-1.0, +0.0] (9/10)",
            "+0.0 (9/10)",
        ),
        (Difference(points=None, planned=10), "-", "-"),
        (1234567, "1,234,567", "1,234,567"),
        (Decimal("0.0000025"), "0.000002", "0.000002"),
        (67.0, "67.0", "67.0"),
        (100.0, "100", "100"),
        (70000.4, "70,000", "70,000"),
        (None, "-", "-"),
    ],
)
def test_a_cell_shows_value_interval_and_what_it_rests_on(cell: Cell, full: str, brief: str) -> None:
    assert (cell_text(cell), cell_text(cell, brief=True)) == (full, brief)


def test_json_holds_the_raw_numbers() -> None:
    row = grid(["m", EX, Decimal("0.10")]).to_json()["rows"]
    ex = {"value": 0.855, "hits": 171, "scored": 200, "planned": 200, "low": 0.8, "high": 0.9}
    assert row == [["m", ex, "0.10"]]


def test_a_long_table_says_how_to_see_the_rest_of_it() -> None:
    shown = render([grid(*([f"m{place}", 1, 2] for place in range(9)), excerpt=2)])
    assert "m1" in shown
    assert "m2" not in shown
    assert "... and 7 more rows: --table t shows all." in shown


def test_a_narrow_page_leaves_out_intervals_and_never_breaks_a_number() -> None:
    wide, narrow = (render([grid(["a-long-model-name", EX, GAIN])], width) for width in (100, 30))
    assert "a-long-model-name   85.5 [80.0, 90.0]   +4.5 [+1.2, +7.8]*" in wide
    assert "a-long-model-name   85.5   +4.5*" in narrow
    assert "too narrow for intervals" in narrow.replace("\n", " ")
    assert "12,345,678,901,234" in render([grid(["model", 12_345_678_901_234, 1])], 10)


@given(st.text())
def test_text_of_any_kind_is_shown_harmless_and_on_one_line(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    shown.encode("utf-8")
    assert text != shown or text.isprintable()


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert printable("\x1b[2J\u202eabc\ud800") == r"\x1b[2J\u202eabc\ud800"
    assert r"\x1b[31m[bold]red" in render([grid(["\x1b[31m[bold]red", 1, 2])])


def test_colour_is_only_there_when_asked_for() -> None:
    assert "\x1b[" not in render([grid(["m", 1, 2])])
    assert "\x1b[1m" in render([grid(["m", 1, 2])], color=True)

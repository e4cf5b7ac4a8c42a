"""Tables as text: nothing is lost, nothing is obeyed."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.printable import printable
from turntide.results.table import Cell, Difference, Number, Published, Rate, Table, counted
from turntide.results.text import cell_text, render

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
        (Number(-0.001, 2, signed=True), "+0.00", "+0.00"),
        (Number(45.25, low=40, high=50.25), "45.2 [40.0, 50.2]", "45.2"),
        (Published(low=86.4, high=86.4), "86.4", "86.4"),
        (Published(low=-12, high=4.5, signed=True), "-12.0 to +4.5", "-12.0 to +4.5"),
    ],
)
def test_a_cell_shows_value_interval_and_what_it_rests_on(cell: Cell, full: str, brief: str) -> None:
    assert (cell_text(cell), cell_text(cell, brief=True)) == (full, brief)


def test_json_holds_the_raw_numbers() -> None:
    row = grid(["m", EX, Decimal("0.10")]).to_json()["rows"]
    ex = {"value": 85.5, "hits": 171, "scored": 200, "planned": 200, "low": 80.0, "high": 90.0}
    assert row == [["m", ex, "0.10"]]


def test_a_long_table_says_how_to_see_the_rest_of_it() -> None:
    shown = render([grid(*([f"m{place}", 1, 2] for place in range(9)), excerpt=2)])
    assert "m1" in shown
    assert "m2" not in shown
    assert "... and 7 more rows: --table t shows all." in shown


def lines(table: Table, width: int) -> list[str]:
    return render([table], width).splitlines()


def test_a_narrow_page_puts_intervals_under_their_numbers_and_then_cuts_the_table_into_panels() -> None:
    table = grid(["a-long-model-name", EX, GAIN])
    assert "a-long-model-name   85.5 [80.0, 90.0]   +4.5 [+1.2, +7.8]*" in render([table], 100)
    stacked = lines(table, 52)
    assert " a-long-model-name           85.5          +4.5*" in stacked
    assert "                     [80.0, 90.0]   [+1.2, +7.8]" in stacked
    panels = lines(table, 40)
    assert [line.split() for line in panels if "model " in line] == [["model", "A"], ["model", "B"]]
    assert " a-long-model-name          +4.5*" in panels


@given(width=st.integers(10, 120), names=st.lists(st.text("ab c", min_size=1, max_size=30), min_size=2, max_size=8))
def test_no_page_breaks_a_word_or_a_number(width: int, names: list[str]) -> None:
    columns = tuple(f"{name}{place}" for place, name in enumerate(names))
    row = [12_345_678_901_234, *([EX] * (len(names) - 1))]
    shown = render([Table(key="t", title="", columns=columns, rows=[row])], width)
    assert "12,345,678,901,234" in shown
    assert shown.count("85.5") == shown.count("[80.0, 90.0]") == len(names) - 1
    assert {word for column in columns for word in column.split()} <= set(shown.split())


def test_text_is_wrapped_between_words_when_the_page_needs_it() -> None:
    table = Table(key="t", title="", columns=("what", "why"), rows=[["x", "one two three four five"]])
    assert [line.strip() for line in lines(table, 20)[3:6]] == ["x      one two", "three four", "five"]


def test_a_table_alone_shows_the_intervals_and_rows_that_it_leaves_out_among_others() -> None:
    table = grid(["m", EX, GAIN], ["n", EX, GAIN], brief=1, excerpt=1)
    assert "[80.0" not in render([table])
    assert "Intervals: --table t." in render([table])
    assert render([table.whole()]).count("[80.0, 90.0]") == 2


def test_n_stands_once_per_row_where_its_numbers_share_it_and_in_each_cell_where_not() -> None:
    few = Rate(hits=1, scored=2, planned=2, low=0, high=1)
    same, differing = counted(grid(["m", EX, GAIN], ["w", EX, few])).rows
    assert (same[1], cell_text(same[2])) == (200, "85.5 [80.0, 90.0]")
    assert (differing[1], cell_text(differing[3])) == ("varies", "50.0 [0.0, 100.0] (n 2)")


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

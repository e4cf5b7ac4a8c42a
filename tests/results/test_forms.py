"""One table in every form: nothing is lost, nothing is obeyed."""

from __future__ import annotations

import csv
import io
import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.engine.cli.output import FORMATS
from turntide.results.csvfile import csv_text
from turntide.results.formats import SUFFIXES, Format, files, safe
from turntide.results.latex import escaped, latex
from turntide.results.markdown import markdown
from turntide.results.report import Report
from turntide.results.table import Cell, Difference, Rate, Table

EX = Rate(hits=171, scored=200, planned=220, low=0.8, high=0.9)
GAIN = Difference(points=-4.5, low=-7.8, high=-1.2, n=200, planned=200, p=0.01)
NO_PAIR = Difference(points=None, planned=5)


def table(*rows: list[Cell], note: str = "") -> Table:
    return Table(key="t", title="EX%", columns=("model", "A", "B"), rows=rows, source="§5", note=note)


def test_the_command_line_offers_every_form_there_is() -> None:
    assert get_args(Format) == FORMATS == tuple(SUFFIXES)


def test_csv_has_each_part_of_a_number_in_a_column_and_empty_cells_for_what_is_missing() -> None:
    found = list(csv.DictReader(io.StringIO(csv_text(table(["m", EX, GAIN], ["w", 3, NO_PAIR])))))
    assert found[0] == {
        "model": "m", "A": "85.5", "A low": "80.0", "A high": "90.0", "A n": "200", "A planned": "220",
        "B": "-4.5", "B low": "-7.8", "B high": "-1.2", "B n": "200", "B planned": "200", "B p": "0.01",
    }  # fmt: skip
    assert (found[1]["A"], found[1]["A low"], found[1]["B"], found[1]["B planned"]) == ("3", "", "", "5")


def test_csv_text_is_no_formula() -> None:
    assert "'=1+1" in csv_text(table(["=1+1", 1, 2]))


@given(st.text())
def test_csv_gives_any_text_back_as_it_is_shown(text: str) -> None:
    row = list(csv.reader(io.StringIO(csv_text(table([text, 1, 2])))))[1]
    assert row[0].removeprefix("'").isprintable()
    assert row[1:] == ["1", "2"]


def test_markdown_aligns_numbers_and_keeps_markup_out() -> None:
    found = markdown(table(["a|b_*c*", EX, GAIN], note="* p"))
    assert "### EX% (§5)" in found
    assert "| :-- | --: | --: |" in found
    assert r"| a\|b\_\*c\* | 85.5 [80.0, 90.0] (200/220) | -4.5 [-7.8, -1.2]\* |" in found
    assert r"\* p" in found


@given(st.text())
def test_markdown_has_one_row_of_three_cells_whatever_the_text(text: str) -> None:
    (row,) = [line for line in markdown(table([text, 1, 2])).splitlines() if line.endswith("| 1 | 2 |")]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 4


def test_latex_is_a_float_with_rules_and_intervals_under_their_numbers() -> None:
    found = latex(table(["m_1", EX, GAIN], ["w", 3, NO_PAIR]))
    assert r"\caption{EX\% (\S{}5)}" in found
    assert r"\begin{tabular}{lrr}" in found
    assert r"m\_1 & 85.5 {\scriptsize (200/220)} & $-$4.5$^{*}$ \\" in found
    assert r" & {\scriptsize [80.0, 90.0]} & {\scriptsize [$-$7.8, $-$1.2]} \\[2pt]" in found
    assert r"w & 3 & - \\" in found
    assert found.count("rule") == 3


@given(st.text())
def test_latex_escapes_every_sign_that_means_something(text: str) -> None:
    bare = re.sub(r"\\[%&#_{}$]|\\[a-zA-Z]+(\{\})?|\$[^$]*\$", "", escaped(text))
    assert not set("%&#_~^{}$\\") & set(bare)


@given(st.text())
def test_a_key_is_always_a_plain_file_name(key: str) -> None:
    assert re.fullmatch(r"[^/\\\0]+", safe(key))
    assert safe(key) not in (".", "..")


@pytest.mark.parametrize(("form", "line"), [("latex", r"\caption{T [SIMULATED, INCOMPLETE]"), ("markdown", "### T")])
def test_a_table_that_leaves_its_report_takes_the_marks_along(form: Format, line: str) -> None:
    marks = {"SIMULATED": "by rules", "INCOMPLETE": "1 of 2"}
    one = Table(key="t", title="T", columns=("a", "b"), rows=[["x", 1]])
    report = Report(title="R", marks=marks, facts={}, warnings=[], tables=[one])
    alone = dict(files(report, form, width=80))
    assert line in alone[f"t{SUFFIXES[form]}"]
    for text in alone.values():
        assert "SIMULATED" in text
        assert "INCOMPLETE" in text

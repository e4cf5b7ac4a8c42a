"""The papers' values: valid, and each in a cell that a report really has."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from turntide.results.enterprisemem import report as em
from turntide.results.published import read_published, with_published
from turntide.results.table import Published as Value
from turntide.results.table import Rate, Table
from turntide.results.text import render
from turntide.results.tide.simulator import PUBLISHED

EX = Rate(hits=171, scored=200, planned=200, low=0.8, high=0.9)


def test_a_published_row_stands_under_ours_of_that_model_and_the_others_at_the_end() -> None:
    ours = Table(
        key="dea", title="", columns=("model", "Chain-only"), rows=[["openai/o4-mini-2025", EX], ["sim/x", EX]]
    )
    found = with_published([ours], read_published(PUBLISHED))[0]
    assert [row[0] for row in found.rows[:4]] == [
        "openai/o4-mini-2025",
        "o4-mini (paper)",
        "sim/x",
        "Claude-Sonnet-4.6 (paper)",
    ]
    assert found.rows[1][1] == Value(low=32.9, high=32.9)
    assert "TIDE-Bench, Table 3" in found.note


def test_values_without_a_cell_are_listed_with_their_place() -> None:
    lines = render(with_published([], read_published(em.PUBLISHED))).splitlines()
    (line,) = [line for line in lines if "on sec_edgar at D, points" in line]
    assert line.split()[-5:] == ["-33.1", "section", "6.3.1,", "Figure", "3"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("values", "[1, 2]", "2 values for 1 columns"),
        ("values", "[[5, 1]]", "is no range"),
        ("valeus", "[1]", "valeus"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_field(tmp_path: Path, field: str, value: str, said: str) -> None:
    path = tmp_path / "published.toml"
    row = f'rows = [{{ labels = ["m"], {field} = {value} }}]'
    path.write_text(f'paper = "P"\n[models]\n[[tables]]\nkey = "dea"\nplace = "T1"\ncolumns = ["A"]\n{row}\n')
    with pytest.raises(msgspec.ValidationError, match=said):
        read_published(path)

"""The one line on a result: its three forms, and its bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.datasets.enterprisemem.memory.summary import summarise
from turntide.engine.sql.outcome import Outcome

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "enterprisemem"
CASES: list[dict[str, Any]] = json.loads((FIXTURES / "summaries.json").read_text())
CELLS = st.none() | st.integers() | st.floats() | st.text(max_size=300) | st.binary(max_size=300)


@pytest.mark.parametrize("case", CASES, ids=[case["summary"] for case in CASES])
def test_a_result_is_told_in_one_line(case: dict[str, Any]) -> None:
    excerpt = tuple(tuple(row) for row in case["outcome"].pop("excerpt", ()))
    assert summarise(Outcome(**case["outcome"], excerpt=excerpt)) == case["summary"]


@given(st.lists(CELLS, min_size=1, max_size=60), st.text(max_size=2_000))
def test_the_line_is_bounded_and_encodable_whatever_is_in_the_row(row: list[Any], message: str) -> None:
    for outcome in (
        Outcome(status="ok", rows=1, excerpt=(tuple(row),)),
        Outcome(status="runtime", message=message + "\ud800"),
    ):
        line = summarise(outcome)
        assert "\n" not in line
        assert len(line.encode()) < 30_000
        assert len(line) < 20 * 450


def test_a_huge_row_is_cut_and_says_so() -> None:
    row = ("x" * 5_000_000, b"y" * 5_000_000, *range(100))
    line = summarise(Outcome(status="ok", rows=1, excerpt=(row,)))
    assert len(line) < 600
    assert "'… (+4999900)" in line
    assert line.endswith("… (+82 columns))")

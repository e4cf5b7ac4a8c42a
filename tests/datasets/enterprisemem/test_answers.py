"""What is taken from an answer, and which of the categories it falls into (decisions 10 and 11)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import Answer
from turntide.datasets.enterprisemem.extraction import extract_sql
from turntide.datasets.enterprisemem.taxonomy import OUTSIDE, SIX, after_execution, before_execution
from turntide.engine.sql.outcome import Outcome, Status

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "enterprisemem" / "answers.toml"
CASES: list[dict[str, Any]] = tomllib.loads(FIXTURE.read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_answer_is_the_sql(case: dict[str, Any]) -> None:
    answer = Answer(text=case["answer"], model="m", usage=None, finish=case.get("finish", "stop"))
    assert extract_sql(answer.text) == case["sql"]
    assert (before_execution(answer, case["sql"]) or "run") == case["category"]


@given(st.text())
def test_any_text_falls_into_one_category_or_is_run(text: str) -> None:
    answer = Answer(text=text, model="m", usage=None)
    assert before_execution(answer, extract_sql(text)) in (None, "empty", "preamble")


@given(st.text())
def test_sql_in_a_fence_is_the_sql_in_it(sql: str) -> None:
    if "```" not in sql and not sql.lower().lstrip().startswith("sql"):
        assert extract_sql(f"```sql\n{sql}\n```") == sql.strip()


@pytest.mark.parametrize(
    ("status", "category"),
    [
        ("syntax", "syntax"),
        ("runtime", "runtime"),
        ("timeout", "runtime"),
        ("rows", "runtime"),
        ("bytes", "runtime"),
        ("memory", "runtime"),
        ("denied", "runtime"),
        ("ok", "wrong_result"),
    ],
)
def test_every_way_to_fail_has_its_category(status: Status, category: str) -> None:
    assert after_execution(Outcome(status=status), correct=False) == category


def test_the_six_and_the_two_outside_are_all_there_is() -> None:
    assert len({*SIX, *OUTSIDE}) == 8

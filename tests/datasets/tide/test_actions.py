"""An agent's answer is one action or none: strict about what it is, lenient about what does not change it."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.datasets.tide.actions import SCHEMA, Clarify, Malformed, Query, read_action

from ...support.cases import FIXTURES

CASES: list[dict[str, Any]] = tomllib.loads((FIXTURES / "tide" / "actions.toml").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case.get("name", case["answer"]) for case in CASES])
def test_an_answer_is_read_as_its_case_says(case: dict[str, Any]) -> None:
    match case:
        case {"is": {"clarify": question}}:
            assert read_action(case["answer"]) == Clarify(question)
        case {"is": {"sql": sql}}:
            assert read_action(case["answer"]) == Query(sql)
        case _:
            with pytest.raises(Malformed, match=case["not"]):
                read_action(case["answer"])


texts = st.text(min_size=1).filter(lambda text: text.strip() == text)


@given(st.one_of(st.builds(Clarify, texts), st.builds(Query, texts)))
def test_what_is_written_is_read_back(action: Clarify | Query) -> None:
    assert read_action(action.to_json()) == action


@given(st.text() | st.recursive(st.none() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_any_other_answer_is_malformed_and_nothing_worse(answer: str) -> None:
    with suppress(Malformed):
        read_action(answer)


def test_deep_nesting_is_malformed() -> None:
    with pytest.raises(Malformed):
        read_action("[" * 100_000)


def test_the_schema_names_both_actions_and_what_they_need() -> None:
    assert [(form["properties"]["action"]["const"], form["required"][1]) for form in SCHEMA["oneOf"]] == [  # pyright: ignore
        ("clarify", "question"),
        ("sql", "sql"),
    ]

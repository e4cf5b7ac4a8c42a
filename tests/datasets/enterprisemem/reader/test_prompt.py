"""Reading a prompt is composing it backwards."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.datasets.enterprisemem.memory.episode import Episode
from turntide.datasets.enterprisemem.prompts import SQL_LIMIT, compose
from turntide.datasets.enterprisemem.reader.prompt import Shown, read

from ....support.episodes import episode

SCHEMA = "CREATE TABLE t (a);\n\nCREATE TABLE u (b);"
LINES = st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=30).filter(lambda text: "=" not in text)
TEXTS = st.lists(st.text(st.characters(exclude_categories=("C",)), max_size=30), min_size=1, max_size=4).map("\n".join)
STATES = st.fixed_dictionaries(
    {},
    optional={
        "company_name": LINES,
        "focus_year": st.integers(1900, 2100).map(str),
        "older_year": st.integers(1900, 2100),
        "region": LINES,
    },
)
EPISODES = st.builds(
    Episode, session=st.just("S"), turn=st.just(4), position=st.just(3), question=TEXTS, sql=TEXTS, result=TEXTS,
    state=STATES,
)  # fmt: skip


def shown(one: Episode) -> Shown:
    return Shown(one.question, one.sql or "(none)", one.state)


@given(st.lists(EPISODES, max_size=5), st.lists(EPISODES, max_size=3), STATES, LINES.filter(str.strip))
def test_what_was_composed_is_read(
    recent: list[Episode], episodes: list[Episode], resolved: dict[str, Any], question: str
) -> None:
    _, user = compose("bird", SCHEMA, recent, episodes, resolved.items(), ["a note"], question)
    prompt = read(user.content)
    assert prompt
    assert (prompt.source, prompt.question, prompt.hints) == ("bird", question, "- a note")
    assert prompt.recent == tuple(map(shown, recent))
    assert prompt.episodes == tuple(map(shown, episodes))
    assert prompt.resolved == resolved


def test_parts_that_the_prompt_does_not_have_are_empty() -> None:
    prompt = read(compose("bird", SCHEMA, [], [], [], [], "Count them.")[1].content)
    assert prompt
    assert (prompt.recent, prompt.episodes, prompt.resolved, prompt.hints) == ((), (), {}, "")


def test_keys_of_other_benchmarks_are_passed_over() -> None:
    one = episode(0, state={"mood": "grey", "region": "Prague", "trust": "none; or little"})
    prompt = read(compose("bird", SCHEMA, [one], [], [("mood", "grey")], [], "Count them.")[1].content)
    assert prompt
    assert prompt.recent[0].state == {"region": "Prague"}
    assert prompt.resolved == {}


def test_a_statement_that_is_shown_in_part_is_read_in_part() -> None:
    one = episode(0, sql="S" * (SQL_LIMIT + 1))
    prompt = read(compose("bird", SCHEMA, [one], [], [], [], "Count them.")[1].content)
    assert prompt
    assert prompt.recent[0].sql.startswith("S" * SQL_LIMIT + "…")


@pytest.mark.parametrize("text", ["", "Hello?", "## Source\nbird", "## Question\nCount them."])
def test_other_texts_are_no_prompts(text: str) -> None:
    assert read(text) is None

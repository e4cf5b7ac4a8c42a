"""Where an answer comes from, on prompts composed by hand."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from turntide.adapters.base import Message
from turntide.adapters.simulated.reader import Misreader, Reader
from turntide.datasets.enterprisemem.memory.episode import Episode
from turntide.datasets.enterprisemem.prompts import compose, prompts
from turntide.datasets.enterprisemem.reader.knowledge import GUESSES
from turntide.datasets.enterprisemem.reader.models import make
from turntide.datasets.enterprisemem.reader.reader import LOST
from turntide.datasets.enterprisemem.sessions import Value
from turntide.datasets.enterprisemem.taxonomy import starts_like_sql
from turntide.datasets.enterprisemem.templates import bird, northwind, sec_edgar

from ....support.episodes import episode

SOUTH: Mapping[str, Value] = {"region": "south", "loan_status": "C"}
NORTH: Mapping[str, Value] = {"region": "north", "loan_status": "B"}
LISTED = bird.LIST.ask(SOUTH)


def turn(template: Any, values: Mapping[str, Value], *, state: bool = False, sql: str | None = None) -> Episode:
    return episode(
        0,
        template.ask(values),
        sql=template.fill(values) if sql is None else sql,
        state=dict(values) if state else {},
    )


def messages(
    question: str,
    *,
    source: str = "bird",
    recent: Sequence[Episode] = (),
    episodes: Sequence[Episode] = (),
    resolved: Mapping[str, Value] | None = None,
    hints: Sequence[str] = (),
) -> Sequence[Message]:
    return compose(source, "CREATE TABLE t (a);", recent, episodes, (resolved or {}).items(), hints, question)


def answer(question: str, settings: Mapping[str, object] | None = None, *, seed: int = 0, **shown: Any) -> str:
    reader = make("reader-perfect", **{"asks": 0, **(settings or {})})
    return reader.answer(messages(question, **shown), {}, random.Random(seed))


LARGEST = bird.LARGEST.ask({})


def test_a_question_that_says_everything_needs_nothing_else() -> None:
    assert answer(LISTED) == bird.LIST.fill(SOUTH)


def test_the_released_wording_is_understood_too() -> None:
    assert answer("List south status C loans.") == bird.LIST.fill(SOUTH)


def test_values_come_from_the_state_of_recent_turns() -> None:
    assert answer(LARGEST, recent=[turn(bird.LIST, SOUTH, state=True, sql="(none)")]) == bird.LARGEST.fill(SOUTH)


def test_values_come_from_the_questions_of_recent_turns() -> None:
    assert answer(LARGEST, recent=[turn(bird.LIST, SOUTH, sql="SELECT 1")]) == bird.LARGEST.fill(SOUTH)


def test_what_the_window_has_lost_is_read_from_the_sql_of_shown_turns() -> None:
    assert answer(LARGEST, recent=[turn(bird.AVERAGE, SOUTH)]) == bird.LARGEST.fill(SOUTH)


def test_what_a_turn_said_goes_before_what_sql_holds() -> None:
    misled = turn(bird.AVERAGE, NORTH)
    assert answer(LARGEST, recent=[turn(bird.LIST, SOUTH), misled]) == bird.LARGEST.fill(SOUTH)


def test_the_newest_value_counts() -> None:
    for first, second in ((SOUTH, NORTH), (NORTH, SOUTH)):
        said = [turn(bird.LIST, first), turn(bird.LIST, second)]
        wrote = [turn(bird.AVERAGE, first), turn(bird.NEWEST, second)]
        assert answer(LARGEST, recent=said) == answer(LARGEST, recent=wrote) == bird.LARGEST.fill(second)


def test_resolved_context_goes_before_recent_turns() -> None:
    recent = [turn(bird.LIST, NORTH, state=True)]
    assert answer(LARGEST, recent=recent, resolved=SOUTH) == bird.LARGEST.fill(SOUTH)
    assert answer(LARGEST, recent=recent, resolved={"region": "south"}) == bird.LARGEST.fill(
        {**NORTH, **SOUTH, "loan_status": "B"}
    )


def test_the_question_goes_before_resolved_context() -> None:
    question = bird.NARROW.ask({"loan_status": "A"})
    assert answer(question, resolved=SOUTH) == bird.NARROW.fill({"region": "south", "loan_status": "A"})


def test_a_customer_is_known_by_name_until_an_id_is_shown() -> None:
    opening = turn(northwind.SALES_BY_YEAR, {"company_name": "Blue Quay"})
    question = northwind.FOCUS.ask({"focus_year": "2020"})
    by_name = answer(question, source="northwind", recent=[opening])
    assert by_name == northwind.FOCUS.fill({"company_name": "Blue Quay", "focus_year": "2020"})
    by_id = answer(question, source="northwind", recent=[opening], resolved={"customer_id": "BLUEQ"})
    assert by_id == northwind.FOCUS.fill({"customer_id": "BLUEQ", "focus_year": "2020"})


def test_years_are_numbers_again() -> None:
    state: Mapping[str, Value] = {"ticker": "HOOL", "metric": "cash", "older_year": 2019, "newer_year": 2020}
    sql = answer(sec_edgar.LARGER.ask({}), source="sec_edgar", resolved=state)
    assert sql == sec_edgar.LARGER.fill(state)
    assert "IN (2019, 2020)" in sql


class TestEpisodes:
    """How far retrieved episodes are trusted."""

    theirs = turn(bird.AVERAGE, NORTH)
    stranger = episode(0, "Which year was higher?", sql="SELECT 1", state={"region": "nowhere"})

    def test_a_careful_reader_takes_nothing_from_them(self) -> None:
        guessed = bird.LARGEST.fill(GUESSES)
        assert answer(LARGEST, episodes=[self.theirs, turn(bird.LIST, SOUTH, state=True)]) == guessed

    def test_missing_fills_gaps_with_the_most_similar(self) -> None:
        settings = {"episodes": "missing"}
        episodes = [self.theirs, turn(bird.LIST, SOUTH)]
        assert answer(LARGEST, settings, episodes=episodes[:1]) == bird.LARGEST.fill(NORTH)
        assert answer(LARGEST, settings, episodes=episodes, resolved={"region": "south"}) == bird.LARGEST.fill(
            {"region": "south", "loan_status": "C"}
        )
        assert answer(LARGEST, settings, episodes=episodes, resolved=SOUTH) == bird.LARGEST.fill(SOUTH)

    def test_always_goes_before_all_but_the_question(self) -> None:
        settings = {"episodes": "always"}
        recent = [turn(bird.LIST, SOUTH, state=True)]
        assert answer(LARGEST, settings, episodes=[self.theirs], resolved=SOUTH, recent=recent) == bird.LARGEST.fill(
            NORTH
        )
        assert answer(LISTED, settings, episodes=[self.theirs]) == bird.LIST.fill(SOUTH)

    def test_one_of_another_source_tells_nothing(self) -> None:
        settings = {"episodes": "always"}
        assert answer(LARGEST, settings, episodes=[self.stranger], resolved=SOUTH) == bird.LARGEST.fill(SOUTH)

    def test_swayed_is_how_often(self) -> None:
        settings = {"episodes": "always", "swayed": 0.3}
        answers = [answer(LARGEST, settings, seed=n, episodes=[self.theirs], resolved=SOUTH) for n in range(300)]
        assert 60 < answers.count(bird.LARGEST.fill(NORTH)) < 120


class TestMissingValues:
    """What a reader does when the prompt does not say enough."""

    def test_it_guesses_something_that_runs_and_is_wrong(self) -> None:
        assert answer(LARGEST) == bird.LARGEST.fill(GUESSES)

    def test_a_guess_keeps_what_is_known(self) -> None:
        assert answer(LARGEST, resolved={"region": "south"}) == bird.LARGEST.fill({**GUESSES, "region": "south"})

    def test_or_asks_back_in_prose(self) -> None:
        asked = answer(LARGEST, {"asks": 1})
        assert "region and loan status" in asked
        assert not starts_like_sql(asked)

    @pytest.mark.parametrize("shown", [{"recent": [episode(0)]}, {"resolved": SOUTH}])
    def test_but_never_once_a_turn_is_shown_or_nothing_is_missing(self, shown: dict[str, Any]) -> None:
        assert answer(LARGEST, {"asks": 1}, **shown).startswith("SELECT ")

    def test_nor_when_the_question_says_a_value(self) -> None:
        assert answer(bird.NARROW.ask(SOUTH), {"asks": 1}).startswith("SELECT ")

    def test_a_question_of_no_known_kind_is_not_answered(self) -> None:
        assert answer("Who are you?") == LOST
        assert make("reader-perfect").answer([Message("user", "hello")], {}, random.Random(0)) == LOST
        assert not starts_like_sql(LOST)


def test_a_reader_that_does_not_recall_reads_no_sql() -> None:
    settings = {"recalls": 0}
    assert answer(LARGEST, settings, recent=[turn(bird.AVERAGE, SOUTH)]) == bird.LARGEST.fill(GUESSES)
    assert answer(LARGEST, settings, recent=[turn(bird.LIST, SOUTH)]) == bird.LARGEST.fill(SOUTH)


def test_errors_strike_by_source() -> None:
    settings = {"errors": {"sec_edgar": 1}}
    assert answer(LISTED, settings) == bird.LIST.fill(SOUTH)
    state: Mapping[str, Value] = {"ticker": "X", "metric": "cash", "older_year": 2019, "newer_year": 2020}
    sql = answer(sec_edgar.LARGER.ask({}), settings, source="sec_edgar", resolved=state)
    assert sql != sec_edgar.LARGER.fill(state)
    assert answer(LISTED, {"errors": 1}) != bird.LIST.fill(SOUTH)


def test_a_hint_that_names_the_column_keeps_a_reader_from_slipping() -> None:
    question, right = sec_edgar.PAIR.ask(PAIR), sec_edgar.PAIR.fill(PAIR)
    first, second = prompts().hints["sec_edgar"]
    slips = {"slips": 1}

    def answers(*hints: str) -> set[str]:
        return {answer(question, slips, seed=n, source="sec_edgar", hints=hints) for n in range(20)}

    assert right not in answers()
    assert answers(first) == {right}
    assert answers(second) == {right, right.replace("value_billions", "value")}


PAIR: Mapping[str, Value] = {"company_name": "Hool", "metric": "cash", "older_year": 2019, "newer_year": 2020}


def test_equal_prompts_and_chance_give_equal_answers() -> None:
    settings = {"errors": 0.5, "slips": 0.5}
    once = [answer(LISTED, settings, seed=n) for n in range(20)]
    assert once == [answer(LISTED, settings, seed=n) for n in range(20)]
    assert len(set(once)) > 2


def test_it_misreads_on_demand() -> None:
    reader: Reader = make("reader-perfect")
    assert isinstance(reader, Misreader)
    asked, right = messages(LISTED), bird.LIST.fill(SOUTH)
    wrong = reader.misread(right, asked, {}, random.Random(0))
    assert wrong != right
    assert wrong.startswith("SELECT ")
    assert reader.misread(LOST, asked, {}, random.Random(0)) == LOST

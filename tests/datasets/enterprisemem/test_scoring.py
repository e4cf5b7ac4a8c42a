"""How a turn is scored against its gold, its fallback, and the episodes it was shown."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import Answer
from turntide.datasets.enterprisemem.memory.episode import Episode
from turntide.datasets.enterprisemem.scoring import filled, score
from turntide.datasets.enterprisemem.sessions import Session, Turn
from turntide.engine.again.rehearsal import RehearsalContext
from turntide.engine.sql.executor import SqlExecutor
from turntide.engine.unit import Unit

TEMPLATE = "SELECT SUM(amount) FROM sales WHERE customer = '{customer_id}'"


def _ignore(*_: object) -> None:
    """No prompt is looked at."""


def _turn(number: int, sql: str, **more: Any) -> Turn:
    return Turn(
        turn_number=number,
        question=f"Question {number}?",
        ground_truth_sql=sql,
        requires_prior_context=number > 1,
        memory_benefit_expected=number > 1,
        state_updates=more.pop("state", {}),
        **more,
    )


def _session(name: str, customer: str, neighbour: str) -> Session:
    first = _turn(1, "SELECT 1", state={"customer_id": customer})
    second = _turn(
        2,
        TEMPLATE.format(customer_id=customer),
        sql_template=TEMPLATE,
        fallback_sql=TEMPLATE.format(customer_id=neighbour),
        referenced_context_keys=("customer_id",),
    )
    return Session(session_id=name, source="northwind", tier=2, turns=(first, second))


ANN, BEA, CAT = (
    _session(f"NW-2-00{n}", who, next_) for n, (who, next_) in enumerate([("A", "B"), ("B", "C"), ("C", "D")])
)


def _shown(session: Session, position: int) -> tuple[Episode, Session]:
    episode = Episode(session=session.session_id, turn=1, position=position, question="?", sql="", result="")
    return episode, session


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "northwind.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE sales (customer TEXT, amount INTEGER)")
        connection.executemany(
            "INSERT INTO sales VALUES (?, ?)", [("A", 10), ("B", 20), ("C", 30), ("D", 10), ("O'D", 5)]
        )
    return path


async def _score(database: Path, session: Session, answer: str, *shown: tuple[Episode, Session]) -> Any:
    unit = Unit(key="u", item=session.session_id, model="m", turns=2)
    async with SqlExecutor({"northwind": database}, timeout=5, workers=1) as executor:
        context = RehearsalContext(unit, iter(()), executor, _ignore)
        return await score(context, session, session.turns[1], Answer(text=answer, model="m", usage=None), shown)


async def test_the_gold_answer_is_correct_under_every_comparison(database: Path) -> None:
    scored = await _score(database, ANN, TEMPLATE.format(customer_id="A"))
    assert scored.category == "correct"
    assert all(scored.agree.values())
    assert scored.fallback == "other"
    assert scored.result == "1 rows; first_row=(10,)"


async def test_the_neighbours_answer_is_wrong_and_matches_the_fallback(database: Path) -> None:
    scored = await _score(database, ANN, TEMPLATE.format(customer_id="B"))
    assert (scored.category, scored.fallback) == ("wrong_result", "matched")


async def test_a_fallback_that_coincides_with_gold_tells_nothing(database: Path) -> None:
    scored = await _score(database, CAT, TEMPLATE.format(customer_id="C"))
    assert scored.fallback == "other"
    same = _session("NW-2-009", "A", "D")
    assert (await _score(database, same, TEMPLATE.format(customer_id="B"))).fallback == "same"


@pytest.mark.parametrize(("neighbour", "expected"), [("B", "other"), ("D", "same")])
async def test_a_turn_that_was_not_executed_still_counts_where_gold_and_fallback_differ(
    database: Path, neighbour: str, expected: str
) -> None:
    scored = await _score(database, _session("NW-2-009", "A", neighbour), "I cannot know that.")
    assert (scored.category, scored.fallback) == ("preamble", expected)


async def test_an_answer_with_a_shown_sessions_values_is_an_echo_of_that_episode(database: Path) -> None:
    scored = await _score(database, ANN, TEMPLATE.format(customer_id="C"), _shown(BEA, 3), _shown(CAT, 5))
    assert (scored.category, scored.fallback, scored.echoed) == ("wrong_result", "other", 5)


async def test_what_was_not_shown_is_no_echo(database: Path) -> None:
    assert (await _score(database, ANN, TEMPLATE.format(customer_id="C"), _shown(BEA, 3))).echoed is None


async def test_a_whole_number_is_not_its_float_under_strict_and_is_under_the_others(database: Path) -> None:
    scored = await _score(database, ANN, "SELECT SUM(amount) * 1.0 FROM sales WHERE customer = 'A'")
    assert scored.category == "wrong_result"
    assert (scored.agree["strict"], scored.agree["multiset"], scored.agree["bird"]) == (False, True, True)


@pytest.mark.parametrize(
    ("answer", "category", "detail"),
    [
        ("SELECT absent FROM sales", "runtime", "runtime"),
        ("SELEC 1", "preamble", ""),
        ("SELECT 1 FROM", "syntax", "syntax"),
        ("DROP TABLE sales", "runtime", "denied"),
        ("SELECT 1; SELECT 2", "runtime", "denied"),
        ("", "empty", ""),
    ],
)
async def test_what_cannot_run_has_its_category(database: Path, answer: str, category: str, detail: str) -> None:
    scored = await _score(database, ANN, answer)
    assert (scored.category, scored.detail) == (category, detail)


def test_quotes_in_values_cannot_leave_their_literal() -> None:
    assert filled(TEMPLATE, {"customer_id": "O'D"}) == "SELECT SUM(amount) FROM sales WHERE customer = 'O''D'"
    assert filled(TEMPLATE, {}) is None

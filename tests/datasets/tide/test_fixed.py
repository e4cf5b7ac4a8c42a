from __future__ import annotations

from pathlib import Path

import pytest
from turntide.datasets.gold import GoldRunner
from turntide.datasets.tide.construction.questions import Question
from turntide.datasets.tide.construction.selection import select
from turntide.datasets.tide.construction.yields import Ground
from turntide.datasets.tide.fixed import Doubts, is_volatile
from turntide.datasets.tide.parsing import parse

VOLATILE = (
    "random()", "abs(RANDOM())", "randomblob(4)", "CURRENT_TIMESTAMP", "current_date", "CURRENT_TIME", "date('now')",
    "date()", "datetime('NOW', '-1 day')", 'datetime("now")', "time()", "julianday('now')", "unixepoch()",
    "strftime('%Y', 'now')", "strftime('%Y')", "strftime('%Y', 'now', '-1 day')", "strftime('%Y', CURRENT_DATE)",
    "timediff('now', day)",
)  # fmt: skip
FIXED = ("strftime('%Y', day)", "date(day, '+1 day')", "'now'", "upper('now')", 'date(T1."now")', "'random()'")


@pytest.mark.parametrize("value", VOLATILE)
def test_what_asks_for_chance_or_the_present_is_volatile_wherever_it_stands(value: str) -> None:
    assert is_volatile(parse(f"SELECT a FROM t WHERE b IN (SELECT c FROM u WHERE d > {value})"))


@pytest.mark.parametrize("value", FIXED)
def test_words_that_only_look_like_it_are_not(value: str) -> None:
    assert not is_volatile(parse(f"SELECT a FROM t WHERE d > {value}"))


def test_a_question_without_a_fixed_result_or_without_words_is_no_anchor_for_a_reason_of_its_own(
    database: Path,
) -> None:
    asked = [
        ("How old is it?", "SELECT STRFTIME('%Y', CURRENT_TIMESTAMP) - 2000 FROM shop WHERE city = 'Oslo'"),
        (" ", "SELECT 1"),
        ("What?", ""),
    ]
    questions = [
        Question(id=str(place), database="shop", split="dev", question=said.strip(), evidence="", sql=sql)
        for place, (said, sql) in enumerate(asked)
    ]
    anchors, selection = select(questions, {"shop": database})
    assert anchors == ()
    assert {name: count for name, count in selection.dropped.items() if count} == {"volatile": 1, "no_text": 2}


def test_an_edit_that_a_tie_decides_is_passed_over_where_the_query_before_is_fixed(database: Path) -> None:
    """Most shops open from nine to five; each of the other hours is that of one shop alone."""
    place = {"shop": database}
    fixed = "SELECT name FROM shop WHERE city = 'Oslo' ORDER BY id LIMIT 1"
    tied = "SELECT name FROM shop ORDER BY city LIMIT 1"
    with GoldRunner(place) as runner, Doubts(place, 10) as doubts:
        assert (doubts.of("shop", fixed), doubts.of("shop", tied)) == (frozenset(), {"tie"})
        assert doubts.of("shop", "SELECT (SELECT name FROM shop) || city FROM shop WHERE id = 1") == {"order"}
        assert doubts.of("shop", "SELECT nothing FROM nowhere") == doubts.of("shop", "SELECT ?") == frozenset()
        ground = Ground("shop", database, runner, doubts)
        before = 'SELECT "Opening Hours" FROM shop GROUP BY "Opening Hours" ORDER BY COUNT(id) DESC LIMIT 1'
        assert not doubts.of("shop", before)
        assert all(not doubts.of("shop", drift.sql) for drift in ground.drifts(before))
        assert ground.open_results == {before.replace(" DESC", "")}

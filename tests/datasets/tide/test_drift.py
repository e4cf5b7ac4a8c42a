"""Drift beyond the cases of `drift.txt`: the paper's worked example, and the two forms of the result."""

from __future__ import annotations

import pytest
from turntide.datasets.tide.commitments import commitments
from turntide.datasets.tide.drift import compare, drift
from turntide.datasets.tide.parsing import UnparsableSql
from turntide.datasets.tide.schema import Schema

COACHES = Schema.of({"coaches": ["coachID", "year", "tmID", "won", "lost"], "teams": ["year", "tmID", "won", "lost"]})
LOSING = (
    "SELECT DISTINCT c.coachID, t.tmID, c.year FROM coaches c JOIN teams t ON c.tmID=t.tmID AND c.year=t.year "
    "WHERE c.year BETWEEN 2000 AND 2010 AND {losing}"
)
GOLD_PRE = LOSING.format(losing="t.lost>t.won")
GOLD_POST = GOLD_PRE.replace("c.year BETWEEN 2000 AND 2010 AND ", "")
AGENT_PRE = LOSING.format(losing="c.lost>c.won")
AGENT_POST = AGENT_PRE.replace("c.year BETWEEN 2000 AND 2010 AND ", "")


def test_the_joint_example_retracts_the_years_alone() -> None:
    outcome = drift(GOLD_PRE, GOLD_POST, COACHES)
    assert (outcome.verdict, outcome.added, outcome.fine_subtype) == ("constraint", frozenset(), None)
    assert [str(unit) for unit in outcome.retracted] == ["WHERE coaches.year BETWEEN 2000 AND 2010"]


def test_the_joint_example_shows_recognised_drift_with_an_inherited_chain_error() -> None:
    outcome = drift(AGENT_PRE, AGENT_POST, COACHES)
    assert outcome.verdict == "constraint"
    assert outcome.retracted == drift(GOLD_PRE, GOLD_POST, COACHES).retracted
    for gold, agent in ((GOLD_PRE, AGENT_PRE), (GOLD_POST, AGENT_POST)):
        assert {str(unit) for unit in commitments(gold, COACHES) ^ commitments(agent, COACHES)} == {
            "WHERE teams.lost > teams.won",
            "WHERE coaches.lost > coaches.won",
        }


def test_the_first_lost_clause_in_order_of_precedence_names_the_drift() -> None:
    outcome = drift("SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY a LIMIT 1", "SELECT COUNT(*) FROM t")
    assert outcome.fine_subtypes == ("group_by", "order_by", "limit_offset", "select")
    assert outcome.fine_subtype == "group_by"


def test_an_empty_set_loses_nothing_and_keeps_nothing() -> None:
    some = commitments("SELECT a FROM t WHERE b = 1")
    assert compare(frozenset(), some).reason == "monotonic"
    assert compare(some, frozenset()).verdict == "reject"


@pytest.mark.parametrize(("pre", "post"), [("SELECT a FROM t", "no idea"), ("no idea", "SELECT a FROM t")])
def test_a_query_that_does_not_parse_has_no_verdict(pre: str, post: str) -> None:
    with pytest.raises(UnparsableSql) as caught:
        drift(pre, post)
    assert caught.value.sql == "no idea"

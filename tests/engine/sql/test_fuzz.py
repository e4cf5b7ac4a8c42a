"""Statements that nobody would think of, in the short form of `make fuzz`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ...support.fuzzing import Fuzzer
from ...support.statements import grown, mutilated
from .conftest import LIMITS

GOLD = (
    "SELECT name FROM item WHERE price > (SELECT avg(price) FROM item) ORDER BY name LIMIT 10",
    "SELECT T1.name, count(*) FROM item AS T1 INNER JOIN item AS T2 USING (id) WHERE T1.name LIKE '%7' GROUP BY 1",
    "SELECT CAST(sum(CASE WHEN price < 9 THEN 1 ELSE 0 END) AS REAL) * 100 / count(id) FROM item",
)


@pytest.fixture(scope="module")
def fuzzer(spare: Path) -> Iterator[Fuzzer]:
    with Fuzzer(LIMITS, [spare, Path.cwd()], deadline=0.1, overshoot=0.5) as fuzzer:
        yield fuzzer


@settings(max_examples=200, deadline=None, suppress_health_check=(HealthCheck.too_slow,))
@given(sql=st.one_of(grown(), mutilated(GOLD)))
def test_no_statement_whatever_crashes_hangs_or_writes(fuzzer: Fuzzer, database: Path, sql: str) -> None:
    fuzzer.check(database, sql)


def test_much_of_what_is_made_up_is_executed(fuzzer: Fuzzer) -> None:
    """A fuzzer of which everything is refused at once proves nothing."""
    assert fuzzer.statuses["ok"] > fuzzer.statuses.total() / 20

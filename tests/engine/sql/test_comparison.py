"""The named comparisons: readable pairs, and the digests against the definitions that they stand for."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.engine.sql.comparison import COMPARISONS, LONG, Digester, compare, has_order_by
from turntide.engine.sql.outcome import Cell, Outcome

from ...support.cases import blocks, headed

Row = tuple[Cell, ...]

cells = st.one_of(
    st.none(),
    st.integers(-2, 2),
    st.sampled_from([2**53 + 1, 2**53, 2**63 - 1, -(2**63)]),
    st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0**53, 2.0**63, 1e300, float("inf"), float("-inf")]),
    st.sampled_from(["", "1", "None", "1.0", "b'a'", "a", "'", "\\", ", ", "é", "\udcff", "\0"]),
    st.sampled_from([b"", b"a", b"1", b"\xff"]),
    st.sampled_from(["x" * (LONG + 1), b"x" * (LONG + 1), "x" * LONG + "y"]),
)
rows = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), max_size=5))


def _executed(result: Sequence[Row]) -> Outcome:
    digester = Digester()
    for row in result:
        digester.add(row)
    return Outcome(status="ok", rows=digester.rows, digests=digester.digests())


def _by_definition(gold: Sequence[Row], predicted: Sequence[Row]) -> dict[str, bool]:
    def printed(result: Sequence[Row]) -> list[tuple[str, ...]]:
        return sorted(tuple(map(repr, row)) for row in result)

    return {
        "strict": printed(gold) == printed(predicted),
        "multiset": Counter(gold) == Counter(predicted),
        "bird": set(gold) == set(predicted),
        "ordered": list(gold) == list(predicted),
    }


@pytest.mark.parametrize("block", blocks("sql/comparisons.sql"), ids=lambda block: headed(block)[0])
def test_the_comparisons_hold_between_exactly_the_pairs_that_they_should(block: str) -> None:
    title, rest = headed(block)
    holds, pair = headed(rest)
    gold, predicted = (query for query in pair.split(";\n"))
    connection = sqlite3.connect(":memory:")
    try:
        results = [connection.execute(query.rstrip(";")).fetchall() for query in (gold, predicted)]
    finally:
        connection.close()
    equal = compare(_executed(results[0]), _executed(results[1]))
    expected = holds.removeprefix("holds: ").split()
    assert [name for name in COMPARISONS if equal[name]] == [name for name in expected if name != "none"], title


@given(rows, rows)
def test_digests_are_equal_exactly_when_the_comparison_holds(gold: list[Row], predicted: list[Row]) -> None:
    assert compare(_executed(gold), _executed(predicted)) == _by_definition(gold, predicted)


@given(rows, st.randoms(use_true_random=False), st.booleans())
def test_neither_order_nor_number_types_mislead_a_digest(gold: list[Row], random: Random, as_floats: bool) -> None:
    predicted = random.sample(gold, len(gold))
    if as_floats:
        predicted = [tuple(float(c) if isinstance(c, int) and abs(c) < 2**53 else c for c in r) for r in predicted]
    equal = compare(_executed(gold), _executed(predicted))
    assert equal == _by_definition(gold, predicted)
    assert equal["multiset"]
    assert equal["bird"]


@pytest.mark.parametrize(("gold", "predicted"), [("ok", "timeout"), ("rows", "rows"), ("runtime", "ok")])
def test_nothing_holds_unless_both_statements_gave_a_result(gold: str, predicted: str) -> None:
    def outcome(status: str) -> Outcome:
        return _executed([]) if status == "ok" else Outcome(status=status)  # pyright: ignore[reportArgumentType]

    assert not any(compare(outcome(gold), outcome(predicted)).values())


@pytest.mark.parametrize("block", blocks("sql/order_by.sql"))
def test_only_the_outermost_order_by_counts(block: str) -> None:
    answer, sql = headed(block)
    assert has_order_by(sql) is (answer == "yes")

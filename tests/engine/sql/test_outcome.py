"""Outcomes: small whatever the result, and whole after a trip through JSON."""

from __future__ import annotations

import json

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.engine.sql.bounds import EXCERPT_BYTES, EXCERPT_ROWS, SHORTEST_CELL, BoundHit, Collector, SqlLimits
from turntide.engine.sql.outcome import Cell, Outcome

cells: st.SearchStrategy[Cell] = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec=None), max_size=5),
    st.binary(max_size=5),
)


@given(st.lists(st.tuples(cells, cells), max_size=4))
def test_an_outcome_survives_json(excerpt: list[tuple[Cell, ...]]) -> None:
    outcome = Outcome(status="ok", columns=("a", "b"), rows=9, excerpt=tuple(excerpt), digests={"strict": "00"})
    for encoded in (orjson.dumps(outcome.to_json()), json.dumps(outcome.to_json(), allow_nan=False).encode()):
        again = Outcome.from_json(orjson.loads(encoded))
        assert again == outcome
        assert repr(again.excerpt) == repr(outcome.excerpt)  # which also tells 1 from 1.0


@settings(max_examples=30)
@given(st.lists(st.lists(st.text(max_size=9_000), min_size=3, max_size=3), max_size=30))
def test_an_excerpt_holds_the_first_row_and_is_small(result: list[list[str]]) -> None:
    collector = Collector(SqlLimits())
    for row in result:
        collector.take(row)
    assert collector.rows == len(result)
    assert len(collector.excerpt) <= EXCERPT_ROWS
    assert sum(len(cell) for row in collector.excerpt for cell in row if isinstance(cell, str)) <= EXCERPT_BYTES
    assert bool(collector.excerpt) == bool(result)
    for shown, row in zip(collector.excerpt, result, strict=False):
        assert [whole.startswith(str(cut)) for cut, whole in zip(shown, row, strict=True)] == [True] * 3


def test_an_excerpt_of_very_many_columns_is_small_too() -> None:
    collector = Collector(SqlLimits())
    collector.take(["x" * 1_000] * 2_000)
    assert [len(str(cell)) for cell in collector.excerpt[0]] == [SHORTEST_CELL] * 2_000


def test_the_bounds_hold_while_rows_arrive() -> None:
    rows = Collector(SqlLimits(rows=2))
    rows.take([1])
    rows.take([1])
    content = Collector(SqlLimits(bytes=10))
    content.take([1])
    hit: list[str] = []
    for collector, row in ((rows, [1]), (content, ["abc"])):
        try:
            collector.take(row)
        except BoundHit as error:
            hit.append(error.bound)
    assert hit == ["rows", "bytes"]
    assert (rows.rows, content.rows) == (2, 1)

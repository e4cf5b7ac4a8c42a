"""The documented canonical form, case by case (docs/commitments.md)."""

from __future__ import annotations

import pytest
from turntide.datasets.tide.commitments import commitments
from turntide.datasets.tide.drift import drift
from turntide.datasets.tide.parsing import LONGEST, SQLITE, UnparsableSql
from turntide.datasets.tide.schema import Schema

from ...support.cases import FIXTURES, blocks, headed


def blocks_of(name: str) -> pytest.MarkDecorator:
    """Run a test on each block of a file: `lines` are those below its title."""
    cases = [headed(block) for block in blocks(f"tide/{name}")]
    return pytest.mark.parametrize("lines", [rest.splitlines() for _, rest in cases], ids=[title for title, _ in cases])


@blocks_of("same.sql")
def test_spellings_of_one_query_commit_to_the_same(lines: list[str], schema: Schema) -> None:
    first, *others = (commitments(query, schema) for query in lines)
    assert others
    for other in others:
        assert other == first


@blocks_of("different.sql")
def test_different_queries_commit_to_different_things(lines: list[str], schema: Schema) -> None:
    first, second = (commitments(query, schema) for query in lines)
    assert first != second


@blocks_of("same_without_schema.sql")
def test_aliases_do_not_matter_without_a_schema(lines: list[str]) -> None:
    first, second = (commitments(query) for query in lines)
    assert first == second


@blocks_of("different_without_schema.sql")
def test_nothing_is_guessed_without_a_schema(lines: list[str]) -> None:
    first, second = (commitments(query) for query in lines)
    assert first != second


@blocks_of("extraction.txt")
def test_each_clause_emits_its_units(lines: list[str], schema: Schema) -> None:
    query, *expected = lines
    assert sorted(f"{unit.side} {unit}" for unit in commitments(query, schema)) == sorted(expected)


@blocks_of("drift.txt")
def test_drift_has_the_verdict_of_algorithm_1(lines: list[str], schema: Schema) -> None:
    pre, post, expected = lines
    outcome = drift(pre, post, schema)
    assert [outcome.verdict, outcome.reason, *outcome.fine_subtypes] == expected.split()


@pytest.mark.parametrize("case", (FIXTURES / "tide" / "unparsable.txt").read_text(encoding="utf-8").splitlines())
def test_what_is_not_one_query_is_reported(case: str) -> None:
    why, _, sql = case.partition(" | ")
    with pytest.raises(UnparsableSql, match=why):
        commitments(sql)


def test_nesting_without_end_is_reported() -> None:
    with pytest.raises(UnparsableSql, match="nested too deeply"):
        commitments("SELECT " + "(" * 4000 + "1" + ")" * 4000)
    with pytest.raises(UnparsableSql, match="nested too deeply"):
        commitments("SELECT " + "(SELECT " * 300 + "1" + ")" * 300)


def test_a_long_chain_of_operators_is_read() -> None:
    many = " OR ".join(f"id = {number}" for number in range(900))
    (unit,) = (unit for unit in commitments(f"SELECT name FROM shop WHERE {many}") if unit.clause == "where")
    assert len(unit.literals) == 900


def test_the_structural_form_has_placeholders_for_literals(schema: Schema) -> None:
    sql = "SELECT name FROM shop WHERE city = 'Oslo' AND id BETWEEN -1 AND 0x1F AND STRFTIME('%Y', name) > :year"
    units = {unit.structure: unit.literals for unit in commitments(sql, schema) if unit.clause == "where"}
    assert units == {
        "shop.city = ?": ("'Oslo'",),
        "shop.id BETWEEN ? AND ?": ("-1", "31"),
        "STRFTIME(?, shop.name) > ?": ("'%Y'", ":year"),
    }


def test_a_unit_is_equal_by_path_clause_and_value(schema: Schema) -> None:
    (first,), (second,) = (
        [unit for unit in commitments(sql, schema) if unit.path]
        for sql in (
            "SELECT 1 WHERE 1 IN (SELECT id FROM shop)",
            "SELECT 2 WHERE 1 IN (SELECT shop.id FROM shop) LIMIT 1",
        )
    )
    assert first == second
    assert hash(first) == hash(second)
    assert first.path == ("WHERE ? IN (SELECT ...)",)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT 1" + "+1" * LONGEST, "longer than 20,000 characters"),
        ("SELECT * FROM t" + " JOIN t" * 60, "joins without ON"),
        ("SELECT * FROM t" + " JOIN t JOIN t ON 1" * 30, "joins without ON"),
    ],
)
def test_what_sqlglot_would_take_minutes_over_never_reaches_its_parser(
    sql: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(SQLITE), "parser", lambda *_: pytest.fail("the parser was called"))  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    with pytest.raises(UnparsableSql, match=why):
        commitments(sql)


def test_joins_with_conditions_and_cross_joins_may_be_many() -> None:
    joined = " JOIN t ON 1 LEFT JOIN t USING (a) CROSS JOIN t NATURAL JOIN t" * 15
    assert commitments(f"SELECT a FROM t{joined}")

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlglot import exp
from turntide.datasets.gold import GoldRunner
from turntide.datasets.tide.checks import Anchor, Candidate, first_failure
from turntide.datasets.tide.commitments import commitments
from turntide.datasets.tide.drift import compare
from turntide.datasets.tide.editing import Edit, expression, tree_drifts, turned_round, with_filter, without_filters
from turntide.datasets.tide.parsing import UnparsableSql, parse
from turntide.datasets.tide.samples import DriftLabel
from turntide.datasets.tide.schema import Schema, schema_of

from ...support.cases import blocks, headed

CASES = dict(headed(block) for block in blocks("tide/edits.txt"))


def others(column: exp.Column, literal: exp.Literal) -> Iterator[str | int]:
    assert column.name
    yield "Bergen" if literal.is_string else 7


def shown(edit: Edit) -> str:
    return f"{edit.subtype}{f' {edit.fine_subtype}' if edit.fine_subtype else ''}: {edit.sql}"


@pytest.mark.parametrize("case", CASES)
def test_the_single_edits_of_a_tree_are_drifts_of_their_level(case: str, schema: Schema) -> None:
    anchor, *expected = CASES[case].splitlines()
    assert [shown(edit) for edit in tree_drifts(anchor, others, schema)] == expected


def test_an_edit_leaves_the_tree_that_it_was_given_alone() -> None:
    tree = parse("SELECT name FROM shop WHERE city = 'Oslo' AND id > 3 ORDER BY id")
    before, city = tree.sql(), expression("city = 'Oslo'")
    assert without_filters(tree, city).sql() == "SELECT name FROM shop WHERE id > 3 ORDER BY id"
    assert with_filter(tree, city, expression("city = 'Rome'")).sql().count("Rome") == 1
    assert turned_round(tree).sql("sqlite").endswith("ORDER BY id DESC")
    assert turned_round(turned_round(tree)).sql("sqlite") == tree.sql("sqlite")
    assert tree.sql() == before


def test_what_is_not_there_cannot_be_edited() -> None:
    tree = parse("SELECT name FROM shop WHERE city = 'Oslo'")
    with pytest.raises(ValueError, match="no WHERE clause holds id = 1"):
        without_filters(tree, expression("id = 1"))
    with pytest.raises(ValueError, match="no WHERE clause holds id = 1"):
        with_filter(tree, expression("id = 1"), expression("id = 2"))
    with pytest.raises(ValueError, match="no ORDER BY"):
        turned_round(tree)
    with pytest.raises(UnparsableSql):
        list(tree_drifts("no query", others))


def test_most_anchors_of_bird_yield_every_level_and_what_has_an_effect_passes_the_checks(shared_data: Path) -> None:
    """Over the superhero golds: an edit fails no check but those of its result, which depend on the values tried."""
    path, yields = shared_data / "bird" / "superhero.sqlite", Counter[str]()
    golds = [item["SQL"] for item in json.loads((shared_data / "bird" / "dev.json").read_text())
             if item["db_id"] == "superhero"][::4]  # fmt: skip
    schema, signals = schema_of(path), set[str]()
    with GoldRunner({"superhero": path}) as runner:
        for gold in golds:
            edits = list(tree_drifts(gold, others, schema))
            yields.update({edit.subtype for edit in edits})
            anchor = Anchor(gold, lambda sql: runner.result("superhero", sql), schema)
            for edit in edits[:4]:
                label = DriftLabel(subtype=edit.subtype, fine_subtype=edit.fine_subtype)
                failure = first_failure(Candidate(drift_utterance="x", post_drift_sql=edit.sql), anchor, label)
                signals.add(failure.signal if failure else "passes")
                assert compare(commitments(gold, schema), commitments(edit.sql, schema)).verdict == edit.subtype
    assert signals <= {"passes", "empty_result", "identical_result"}
    assert min(yields[level] for level in ("value", "constraint", "projection")) > len(golds) / 2

"""What never matters to commitments and what always decides drift, on random queries and on BIRD's gold."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sqlglot import exp
from turntide.datasets.tide.canonical import conjuncts
from turntide.datasets.tide.commitments import commitments
from turntide.datasets.tide.drift import drift
from turntide.datasets.tide.parsing import UnparsableSql, parse
from turntide.datasets.tide.schema import Schema, schema_of_bird

from .queries import emitted, queries, renamed, reordered, respelled, with_where

Property = Callable[[str, Schema, random.Random], bool]
"""Asserts something of a query, or returns False where it has nothing to be asserted of."""

CLAUSES = (exp.Where, exp.Having, exp.Limit, exp.Offset, exp.Ordered, exp.Group, exp.Select, exp.Filter, exp.Join)


def case_and_white_space_never_matter(sql: str, schema: Schema, rng: random.Random) -> bool:
    assert commitments(respelled(sql, rng), schema) == commitments(sql, schema)
    return True


def aliases_never_matter(sql: str, schema: Schema, rng: random.Random) -> bool:
    assert commitments(renamed(sql, schema, rng), schema) == commitments(sql, schema)
    return True


def the_order_of_conjuncts_never_matters(sql: str, schema: Schema, rng: random.Random) -> bool:
    assert commitments(reordered(sql, rng), schema) == commitments(sql, schema)
    return " WHERE " in sql


def outermost_structure(tree: exp.Select, predicate: exp.Expr, schema: Schema) -> str:
    """Return the structural form of `predicate` as a member of the outermost WHERE."""
    units = commitments(with_where(tree, [predicate]), schema)
    return next(unit.structure for unit in units if not unit.path and unit.clause == "where")


def dropping_a_conjunct_is_constraint_level(sql: str, schema: Schema, rng: random.Random) -> bool:
    tree = parse(sql)
    if not isinstance(tree, exp.Select) or not (where := tree.args.get("where")):
        return False
    predicates = list(conjuncts(where.this))
    forms = [outermost_structure(tree, predicate, schema) for predicate in predicates]
    dropped = rng.randrange(len(predicates))
    if forms.count(forms[dropped]) > 1:
        return False  # it has a twin
    others = predicates[:dropped] + predicates[dropped + 1 :]
    outcome = drift(sql, with_where(tree, others), schema)
    assert outcome.verdict == "constraint"
    return True


def replacing_a_literal_is_value_level(sql: str, schema: Schema, rng: random.Random) -> bool:
    tree = parse(sql)
    if not isinstance(tree, exp.Select) or not (where := tree.args.get("where")):
        return False
    units = commitments(sql, schema)
    below = sum(unit.clause == "where" if not unit.path else unit.path[0].startswith("WHERE ") for unit in units)
    replaceable = exp.Where | exp.Having | exp.Limit | exp.Offset  # and no ordinal, nor an output that others name
    found = [node for node in where.find_all(exp.Literal) if isinstance(node.find_ancestor(*CLAUSES), replaceable)]
    if not found or below != emitted(where):
        return False  # two equal units: one of them stays when the other changes
    literal = rng.choice(found)
    literal.set("this", f"new {rng.random()}" if literal.is_string else str(rng.randrange(10**6, 10**9)))
    outcome = drift(sql, tree.sql("sqlite"), schema)
    assert (outcome.verdict, len(outcome.retracted)) == ("value", 1)
    return True


def adding_a_unit_is_never_drift(sql: str, schema: Schema, rng: random.Random) -> bool:
    tree = parse(sql)
    block = rng.choice(list(tree.find_all(exp.Select)))
    where, branch = block.args.get("where"), isinstance(block.parent, exp.SetOperation)
    kind = rng.choice(("where", "select") if branch else ("where", "select", "order", "limit"))
    new = exp.Literal.string(f"new {rng.random()}")
    if kind == "where":
        predicate = exp.EQ(this=new, expression=exp.Literal.number(1))
        parts = [each.copy() for each in conjuncts(where.this)] if where else []
        parts.insert(rng.randint(0, len(parts)), predicate)
        block.set("where", exp.Where(this=exp.and_(*parts)))
    elif kind == "select":
        block.append("expressions", new)
    elif kind == "order":
        ordered = exp.Ordered(this=new, nulls_first=True)
        order = block.args.get("order") or exp.Order(expressions=[])
        order.append("expressions", ordered)
        block.set("order", order)
    elif not block.args.get("limit"):
        block.set("limit", exp.Limit(expression=exp.Literal.number(7)))
    assert drift(sql, tree.sql("sqlite"), schema).verdict == "not_drift"
    return True


PROPERTIES: tuple[Property, ...] = (
    case_and_white_space_never_matter,
    aliases_never_matter,
    the_order_of_conjuncts_never_matters,
    dropping_a_conjunct_is_constraint_level,
    replacing_a_literal_is_value_level,
    adding_a_unit_is_never_drift,
)


@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda holds: holds.__name__)
@given(sql=queries(), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_it_holds_for_random_queries(holds: Property, schema: Schema, sql: str, seed: int) -> None:
    assume(holds(sql, schema, random.Random(seed)))


def gold(bird: Path) -> Iterator[tuple[str, str]]:
    """Yield (database, SQL) of BIRD's dev and train gold."""
    for entry in json.loads((bird / "dev.json").read_text(encoding="utf-8")):
        yield entry["db_id"], entry["SQL"]
    with gzip.open(bird / "train_gold.sql.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            sql, _, database = line.rstrip("\n").rpartition("\t")
            yield database, sql


@pytest.fixture(scope="module")
def everything(shared_data: Path) -> list[tuple[str, Schema]]:
    """All gold queries, dev's first, with the schemas of their databases."""
    bird = shared_data / "bird"
    entries = json.loads((bird / "dev_tables.json").read_text(encoding="utf-8"))
    entries += json.loads(gzip.decompress((bird / "train_tables.json.gz").read_bytes()))
    schemas = {entry["db_id"]: schema_of_bird(entry) for entry in entries}
    return [(sql, schemas[database]) for database, sql in gold(bird)]


@pytest.fixture(scope="module")
def sample(everything: list[tuple[str, Schema]]) -> list[tuple[str, Schema]]:
    return random.Random(7).sample(everything, 120)


@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda holds: holds.__name__)
def test_it_holds_for_gold_queries(holds: Property, sample: list[tuple[str, Schema]]) -> None:
    applied = sum(holds(sql, schema, random.Random(sql)) for sql, schema in sample)
    assert applied > 60


def test_every_gold_query_of_birds_dev_set_has_commitments(everything: list[tuple[str, Schema]]) -> None:
    """All 1,534; the 9,428 of the train set are measured by `bench/commitments.py`."""
    dev = everything[:1_534]
    assert len(everything) == 1_534 + 9_428
    assert all(commitments(sql, schema) for sql, schema in dev)


WORDS = """
    SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET FETCH DISTINCT AS JOIN ON UNION WITH VALUES OVER WINDOW FILTER
    AND OR NOT IN EXISTS BETWEEN LIKE IS NULL CASE WHEN THEN END CAST COUNT ( ( ) ) , . * a b t.b 'x' 1 "q" `c` [d] = <
    + - || ? :p x'ab' TRUE COLLATE DESC NULLS ; -- \0 \ud800
"""


@given(st.text() | st.lists(st.sampled_from(WORDS.split())).map(lambda words: " ".join(("SELECT b FROM a", *words))))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_reported(sql: str) -> None:
    with suppress(UnparsableSql):
        assert commitments(sql, Schema.of({"a": ["b"]}))

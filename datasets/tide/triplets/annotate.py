"""The user's words for the atomic nodes of a gold query, and which of them each layer settles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from msgspec import structs
from sqlglot import exp

from ..commitments import commitments
from ..editing import Value, selecting, without, written
from ..nodes import atomic_nodes, labels
from ..samples import Layer
from ..schema import Schema
from .library import words
from .model import Condition, Path
from .request import Request, predicate_in


def said_nodes(request: Request, tree: exp.Query, held: Mapping[Condition, Value], schema: Schema) -> dict[str, str]:
    """Return every node of `tree` by label: the conditions as the question says them, the rest by the word list."""
    database, noun = request.template.database, request.template.subject.noun
    said = {_label(tree, condition, schema): f"only {noun} {condition.say(value)}" for condition, value in held.items()}
    nodes = atomic_nodes(written(tree), schema, said, words(database))
    return {node.label: node.words for node in nodes}


def other_readings(request: Request) -> dict[Path, str]:
    """Return the query under every other reading, by its path."""
    paths = [path for path in request.template.readings() if path != request.path]
    return {path: replace(request, path=path).sql() for path in paths}


def settled_layers(request: Request, gold: str, readings: Mapping[Path, str], schema: Schema) -> Iterator[Layer]:
    """Yield the layers, each with the nodes of the gold that some reading under its alternative lacks."""
    named, path = labels(gold, schema), request.path
    for place, layer in enumerate(request.layers()):
        aside = (*path[:place], 1 - path[place])
        others = [commitments(sql, schema) for other, sql in readings.items() if other[: place + 1] == aside]
        settled = sorted(name for unit, name in named.items() if any(unit not in other for other in others))
        yield structs.replace(layer, nodes=tuple(settled))


def _label(tree: exp.Query, condition: Condition, schema: Schema) -> str:
    """Return the label of a condition in `tree`, which depends on the tables there and not on the value."""
    tables = tuple((table.name, table.alias) for table in tree.args["from_"].find_all(exp.Table))
    joined = tuple((join.this.name, join.alias_or_name) for join in tree.args.get("joins") or ())
    key = (condition, tables + joined)
    if key not in _LABELS:
        _LABELS[key] = _filter_label(tree, condition, schema)
    return _LABELS[key]


_LABELS: dict[tuple[Condition, tuple[tuple[str, str], ...]], str] = {}


def _filter_label(tree: exp.Query, condition: Condition, schema: Schema) -> str:
    """Return the label of the one filter of the same query with this filter alone."""
    predicate = predicate_in(tree, condition, 0 if condition.is_number else "x")
    bare = selecting(without(tree, "where", "group", "having", "order", "limit"), "1")
    sql = f"{written(bare)} WHERE {written(predicate)}"
    return next(label for unit, label in labels(sql, schema).items() if unit.clause == "where")

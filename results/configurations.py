"""The models of a report: how each was asked, how it reasons, and who answered.

EnterpriseMem-Bench, §7.4: the reasoning configuration is a variable of the method, to be stated beside every score.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..adapters.description import describe, reasoning
from ..engine.journal import canonical
from .operation_tables import ids_text
from .reading import ModelIdentity
from .table import Cell, Table

Returned = Mapping[str, Counter[str]]
"""Answers by a model's label and the id that came back; empty where a reply (a refusal, for one) named none."""


def models_table(models: Sequence[ModelIdentity], returned: Returned) -> Table:
    """Every model with the options that were sent, what they mean, and the ids that answered."""
    rows: list[list[Cell]] = [
        [
            model.label,
            model.id,
            canonical(model.options).decode(),
            describe(model.id, model.options),
            ids_text(returned[model.label]),
        ]
        for model in models
    ]
    columns = ("model", "id", "options", "configuration", "answered by")
    return Table(key="models", title="Models", columns=columns, rows=rows)


def substitutions(models: Iterable[ModelIdentity], returned: Returned) -> Iterator[str]:
    """Yield a warning for every id that answered in the place of the one that was asked for."""
    for model in models:
        others = {name: count for name, count in sorted(returned[model.label].items()) if name not in ("", model.asked)}
        for name, count in others.items():
            yield f"{model.label}: {count:,} answers came from {name!r}, not from {model.asked!r} that was asked for"


def stating(tables: Iterable[Table], key: str, models: Sequence[ModelIdentity]) -> Iterator[Table]:
    """Yield `tables`, the one called `key` with each model's reasoning configuration under its scores."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for model in models:
        alike[reasoning(model.id, model.options)].append(model.label)
    said = "; ".join(f"{', '.join(labels)}: {how}" for how, labels in alike.items())
    for table in tables:
        yield replace(table, note=f"{table.note} Reasoning: {said}.") if table.key == key else table

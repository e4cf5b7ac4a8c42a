"""What the papers state, beside what was measured: validated data, each value with its place in the paper.

A TOML file holds them (`enterprisemem/published.toml`, `tide/published.toml`):

    paper = "..."
    [models]                            # the paper's names, and patterns of the ids that runs ask for
    "GPT-5.2" = ["openai/gpt-5.2*"]

    [[tables]]                          # values that have a cell in a table of ours
    key = "ex_by_condition"
    place = "Table 6"
    columns = ["A", "B"]
    rows = [{ labels = ["GPT-5.2"], values = ["-", 86.4] }]     # a number, [low, high], or "-" for none

    [[elsewhere]]                       # values that have none
    what = "..."
    value = -17.2
    place = "section 6.3.1"
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from .table import Cell, Table
from .table import Published as Value

Stated: TypeAlias = "float | tuple[float, float] | Literal['-']"

MARK: Final = "(paper)"


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of values, under the labels of a row of ours; a model has the paper's name."""

    labels: tuple[str, ...]
    values: tuple[Stated, ...]


class Stating(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the paper states in one place of what the table `key` shows; `digits` after the point, or by column."""

    key: str
    place: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    digits: int | tuple[int, ...] = 1
    signed: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.digits, tuple) and len(self.digits) != len(self.columns):
            raise ValueError(f"{self.key}: digits of {len(self.digits)} columns for {len(self.columns)}")
        for row in self.rows:
            if len(row.values) != len(self.columns):
                raise ValueError(f"{self.key}, {row.labels}: {len(row.values)} values for {len(self.columns)} columns")
            for value in row.values:
                if isinstance(value, tuple) and value[0] >= value[1]:
                    raise ValueError(f"{self.key}, {row.labels}: {value} is no range")

    def cells(self, row: Row) -> Iterator[tuple[str, Value | None]]:
        """Yield the values of a row as cells, each with its column."""
        digits = self.digits if isinstance(self.digits, tuple) else (self.digits,) * len(self.columns)
        for column, value, places in zip(self.columns, row.values, digits, strict=True):
            if isinstance(value, str):
                yield column, None
                continue
            low, high = value if isinstance(value, tuple) else (value, value)
            yield column, Value(low=low, high=high, digits=places, signed=self.signed)


class Elsewhere(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value that no table of ours has a cell for."""

    what: str
    place: str
    value: float | tuple[float, float]
    signed: bool = False


class Published(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that a paper states."""

    paper: str
    models: dict[str, tuple[str, ...]]
    tables: tuple[Stating, ...]
    elsewhere: tuple[Elsewhere, ...] = ()

    def is_model(self, name: str, label: str) -> bool:
        """Return whether a run's model is the one that the paper calls `name`."""
        return name == label or any(fnmatchcase(label, pattern) for pattern in self.models.get(name, ()))


def read_published(path: Path) -> Published:
    """Read and validate a file; raises msgspec.ValidationError that names the field."""
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Published)


def with_published(tables: Iterable[Table], published: Published) -> list[Table]:
    """Return the tables with the paper's rows beside ours, and one more with all that has no place in them."""
    found: list[Table] = []
    for table in tables:
        for stating in published.tables:
            if stating.key == table.key:
                table = _beside(table, stating, published)
        found.append(table)
    keys = {table.key for table in found}
    rest = _elsewhere(published, [stating for stating in published.tables if stating.key not in keys])
    return [*found, rest] if rest.rows else found


def _beside(table: Table, stating: Stating, published: Published) -> Table:
    """Return the table with each published row under the row of ours that it belongs to, or at the end."""
    rows = list(table.rows)
    model = table.columns.index("model") if "model" in table.columns[: table.labels] else table.labels - 1
    for row in stating.rows:
        cells: list[Cell] = [f"{label} {MARK}" if place == model else label for place, label in enumerate(row.labels)]
        values = dict(stating.cells(row))
        cells += [values.get(column) for column in table.columns[table.labels :]]
        rows.insert(_after(rows, row.labels, model, published), cells)
    note = f"{MARK}: {published.paper}, {stating.place}; stated without intervals."
    return replace(table, rows=rows, note=f"{table.note} {note}".strip())


def _after(rows: Sequence[Sequence[Cell]], labels: Sequence[str], model: int, published: Published) -> int:
    """Return the place behind the last row of ours with these labels, or the end."""

    def same(row: Sequence[Cell]) -> bool:
        pairs = zip(labels, map(str, row), strict=False)
        return all(
            published.is_model(ours, theirs) if place == model else ours == theirs
            for place, (ours, theirs) in enumerate(pairs)
        )

    return max((place + 1 for place, row in enumerate(rows) if same(row)), default=len(rows))


def _elsewhere(published: Published, absent: Sequence[Stating]) -> Table:
    rows: list[list[Cell]] = [[each.what, stating_of(each), each.place] for each in published.elsewhere]
    rows += [row for stating in absent for row in _listed(stating)]
    return Table(
        key="published_elsewhere",
        title="Published values without a cell above",
        columns=("what", "published", "place"),
        rows=rows,
        note=f"{published.paper}.",
    )


def stating_of(each: Elsewhere) -> Value:
    """Return the value of a statement as a cell."""
    low, high = each.value if isinstance(each.value, tuple) else (each.value, each.value)
    return Value(low=low, high=high, signed=each.signed)


def _listed(stating: Stating) -> Iterator[list[Cell]]:
    for row in stating.rows:
        for column, cell in stating.cells(row):
            if cell is not None:
                yield [f"{', '.join(row.labels)}: {column}", cell, stating.place]

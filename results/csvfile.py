"""A table as CSV for programs: numbers raw, and what belongs to a number in columns beside it.

All is in the unit that the table shows: rates, their intervals and every other share in percent, differences in
percentage points. A column of rates becomes `NAME`, `NAME low`, `NAME high`, `NAME n` (scored) and `NAME
planned`; one of differences also has `NAME p`; other numbers with an interval have `NAME low`
and `NAME high`. What is missing is empty. Text that a spreadsheet would take for a formula has a quote before it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

from ..adapters.base import Json
from ..adapters.printable import printable
from .table import Cell, Difference, Number, Published, Rate, Table

_PARTS: Final = ("", "low", "high", "n", "planned", "p")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")

Value = str | int | float | None


def csv_text(table: Table) -> str:
    """Return a table as CSV with a header; lines end as RFC 4180 has it."""
    parts = [_present([row[place] for row in table.rows]) for place in range(len(table.columns))]
    file = io.StringIO()
    writer = csv.writer(file)
    named = zip(table.columns, parts, strict=True)
    writer.writerow([_text(f"{column} {part}".strip()) for column, present in named for part in present])
    for row in table.rows:
        writer.writerow([_values(cell).get(part) for cell, p in zip(row, parts, strict=True) for part in p])
    return file.getvalue()


def _present(cells: Sequence[Cell]) -> list[str]:
    """Return the parts that some cell of a column has, in their order."""
    found = {part for cell in cells for part in _values(cell)}
    return [part for part in _PARTS if part in found] or [""]


def _values(cell: Cell) -> dict[str, Value]:
    return dict(_pairs(cell))


def _pairs(cell: Cell) -> Iterator[tuple[str, Value]]:
    match cell:
        case Rate():
            yield from (("", cell.percent), ("low", 100 * cell.low), ("high", 100 * cell.high))
            yield from (("n", cell.scored), ("planned", cell.planned))
        case Difference():
            yield from (("", cell.points), ("low", cell.low), ("high", cell.high))
            yield from (("n", cell.n), ("planned", cell.planned), ("p", cell.p))
        case Number() if cell.low is not None:
            yield from (("", cell.value), ("low", cell.low), ("high", cell.high))
        case Number():
            yield "", _plain(cell.to_json())
        case Published():
            yield "", cell.shown().value
        case str():
            yield "", _text(cell)
        case None:
            yield "", None
        case int() | float():
            yield "", cell
        case _:
            yield "", str(cell)


def _text(text: str) -> str:
    return f"'{printable(text)}" if text.startswith(_FORMULA) else printable(text)


def _plain(value: Json) -> Value:
    return value if isinstance(value, int | float) else None

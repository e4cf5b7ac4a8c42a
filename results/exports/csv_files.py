"""Tables as CSV: UTF-8, a header, one file per table.

Nested cells are JSON text; null is an empty cell. What models wrote must not run as a formula where a spreadsheet opens
the file: a text that begins with one of `RISKY` is written with an apostrophe before it, and so is a text that begins
with an apostrophe, so that dropping the first apostrophe of a cell gives the exact text back.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from .common import as_json
from .dialogue import Dialogue
from .export import Export

RISKY: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters by which spreadsheets know a formula, as OWASP lists them for CSV injection."""


class CsvFiles:
    """Writes every table of an export into a folder; use it as a context."""

    def __init__(self, folder: Path, export: Export) -> None:
        self._stack = ExitStack()
        self._tables: list[tuple[Any, Any]] = []
        folder.mkdir(parents=True, exist_ok=True)
        for table in export.tables:
            path = folder / f"{table.key}.csv"
            file = self._stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([column.name for column in table.columns])
            self._tables.append((table, writer))

    def add(self, dialogue: Dialogue) -> None:
        """Write the dialogue's rows."""
        for table, writer in self._tables:
            writer.writerows(map(_row, table.cells(dialogue)))

    def close(self) -> None:
        """Finish every file."""
        self._stack.close()


def written(text: str) -> str:
    """Return a text as a cell holds it; dropping an apostrophe that it begins with gives the text back."""
    return f"'{text}" if text.startswith((*RISKY, "'")) else text


def _row(cells: Sequence[Any]) -> list[Any]:
    return [_cell(cell) for cell in cells]


def _cell(cell: object) -> object:
    match cell:
        case str():
            return written(cell)
        case bool():
            return "true" if cell else "false"
        case None | int() | float():
            return cell
        case _:
            return as_json(cell)

"""One line on what a turn's SQL came to (§5.5 "result summary"): from the model's own result, never the gold one."""

from __future__ import annotations

from ....engine.sql.outcome import Cell, Outcome
from .text import bounded

CELL_LIMIT = 100
"""Characters of one printed cell."""
COLUMN_LIMIT = 20
"""Cells of the first row."""
MESSAGE_LIMIT = 300
"""Characters of an error message."""

NO_SQL = "sql_error=no SQL was returned"
"""The summary of a turn whose answer held no SQL."""


def summarise(outcome: Outcome) -> str:
    """Return `N rows; first_row=<tuple>`, `0 rows`, or `sql_error=<message>`.

    Bounded, about 2,500 characters at worst: cells, columns and messages beyond the limits above are cut and marked.
    """
    if outcome.status != "ok":
        message = " ".join((outcome.message or outcome.status).split())
        return f"sql_error={bounded(message, MESSAGE_LIMIT)}"
    if outcome.rows == 0 or not outcome.excerpt:
        return f"{outcome.rows} rows"
    return f"{outcome.rows} rows; first_row={_printed(outcome.excerpt[0])}"


def _printed(row: tuple[Cell, ...]) -> str:
    """Print a row as Python prints a tuple."""
    cells = [_cell(value) for value in row[:COLUMN_LIMIT]]
    if len(row) > COLUMN_LIMIT:
        cells.append(f"… (+{len(row) - COLUMN_LIMIT} columns)")
    return f"({cells[0]},)" if len(cells) == 1 else f"({', '.join(cells)})"


def _cell(value: Cell) -> str:
    if isinstance(value, str | bytes) and len(value) > CELL_LIMIT:
        return f"{value[:CELL_LIMIT]!r}… (+{len(value) - CELL_LIMIT})"
    return repr(value)

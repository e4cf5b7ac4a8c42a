"""How a cell reads in any form: numbers in their parts, everything else as text that no terminal would obey."""

from __future__ import annotations

from decimal import Decimal

from ..adapters.printable import printable
from .table import Cell, Difference, Number, Published, Rate, Shown, Table


def shown(cell: Cell) -> Shown:
    """Return a cell as a reader sees it."""
    match cell:
        case None:
            return Shown("-")
        case str():
            return Shown(printable(cell))
        case Rate() | Difference() | Number() | Published():
            return cell.shown()
        case int():
            return Shown(f"{cell:,}")
        case float():
            return Shown(f"{cell:#,.3g}".rstrip(".") if abs(cell) < 1000 else f"{cell:,.0f}")
        case Decimal():
            return Shown(f"{cell:,.6f}")


def cell_text(cell: Cell, *, brief: bool = False) -> str:
    """Return a cell on one line, without its interval if `brief`."""
    return shown(cell).text(brief=brief)


def is_text(table: Table, place: int) -> bool:
    """Return whether a column holds words: it is set to the left, and may be wrapped."""
    cells = [row[place] for row in table.rows]
    return place < table.labels or (any(cells) and all(isinstance(cell, str | None) for cell in cells))

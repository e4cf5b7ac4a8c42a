"""A table as values, before anyone decides how it looks."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ..adapters.base import Json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`hits` of `scored` with a confidence interval, shown in percent; `planned` says how many there should be."""

    hits: int
    scored: int
    planned: int
    low: float
    high: float

    @property
    def value(self) -> float | None:
        """The share, in [0, 1]; None when nothing was scored."""
        return self.hits / self.scored if self.scored else None

    def text(self) -> str:
        """Return `85.5 [83.6, 87.2]`, in percent."""
        if not self.scored:
            return "-"
        return f"{100 * self.hits / self.scored:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference of two rates in percentage points, with its interval; None where one of them is missing."""

    points: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0

    def text(self) -> str:
        """Return `+4.5 [+1.2, +7.8]`, in percentage points."""
        if self.points is None:
            return "-"
        shown = f"{_zero(self.points):+.1f}"
        if self.low is None or self.high is None:
            return shown
        return f"{shown} [{_zero(self.low):+.1f}, {_zero(self.high):+.1f}]"


Cell: TypeAlias = "str | int | float | Rate | Difference | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled grid. `key` names it in JSON; `source` is its place in the paper; `note` stands under it."""

    key: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    source: str = ""
    note: str = ""
    labels: int = field(default=1)
    """How many leading columns name the row."""

    def to_json(self) -> dict[str, Json]:
        """Return the table with every number raw."""
        return {
            "key": self.key,
            "title": self.title,
            "source": self.source,
            "note": self.note,
            "columns": list(self.columns),
            "rows": [[_cell_json(cell) for cell in row] for row in self.rows],
        }


def render(tables: Sequence[Table], width: int = 160, *, color: bool = False) -> str:
    """Return the tables as text for a terminal; equal tables give equal bytes."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, force_terminal=color, legacy_windows=False)
    for table in tables:
        _print(console, table)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _print(console: Console, table: Table) -> None:
    from rich.markup import escape

    source = f"  [dim]({escape(table.source)})[/dim]" if table.source else ""
    console.print(f"[bold]{escape(table.title)}[/bold]{source}")
    console.print(_grid(table))
    if table.note:
        console.print(f"[dim]{escape(table.note)}[/dim]")
    console.print()


def _grid(table: Table) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(table.columns):
        grid.add_column(
            Text(column), justify="left" if place < table.labels else "right", no_wrap=place >= table.labels
        )
    for row in table.rows:
        grid.add_row(*(Text(cell_text(cell)) for cell in row))
    return grid


def cell_text(cell: Cell) -> str:
    """Return a cell as a reader sees it."""
    match cell:
        case None:
            return "-"
        case str():
            return cell
        case Rate() | Difference():
            return cell.text()
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.4g}"


def _cell_json(cell: Cell) -> Json:
    match cell:
        case Rate():
            return {
                "value": cell.value,
                "hits": cell.hits,
                "scored": cell.scored,
                "planned": cell.planned,
                "low": cell.low,
                "high": cell.high,
            }
        case Difference():
            return {"points": cell.points, "low": cell.low, "high": cell.high, "n": cell.n}
        case _:
            return cell


def _zero(number: float) -> float:
    """Return `number`, and 0.0 for what would be shown as -0.0."""
    return 0.0 if abs(number) < 0.05 else number

"""Tables and reports as text for a terminal: equal values give equal bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Final, cast

from ..adapters.base import Json
from .report import Report
from .table import Cell, Difference, Rate, Table

if TYPE_CHECKING:
    from rich.table import Table as RichTable

WIDTH: Final = 160
"""Columns of a page that is not shown on a terminal."""

_ANY = 10_000
_SHA256 = re.compile(r"[0-9a-f]{64}")


def render(tables: Iterable[Table], width: int = WIDTH, *, color: bool = False) -> str:
    """Return the tables as text, `width` columns wide."""
    page = _Page(width, color)
    for table in tables:
        page.table(table)
    return page.text()


def report_text(report: Report, width: int = WIDTH, *, color: bool = False) -> str:
    """Return a report as text, `width` columns wide."""
    page = _Page(width, color)
    page.line((printable(report.title), "bold"))
    for word, meaning in report.marks.items():
        page.line((word, "bold yellow"), f": {printable(meaning)}")
    for name, value in report.facts.items():
        page.line((f"{name:<12}", "dim"), printable(_words(value)))
    for warning in report.warnings:
        page.line(("warning", "bold red"), f": {printable(warning)}")
    page.line()
    for table in report.tables:
        page.table(table)
    return page.text()


def cell_text(cell: Cell, *, brief: bool = False) -> str:
    """Return a cell as a reader sees it."""
    match cell:
        case None:
            return "-"
        case str():
            return printable(cell)
        case Rate() | Difference():
            return cell.text(brief=brief)
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:#,.3g}".rstrip(".") if abs(cell) < 1000 else f"{cell:,.0f}"
        case Decimal():
            return f"{cell:,.6f}"


def printable(text: str) -> str:
    """Return `text` with what a terminal would obey or could not show (controls, bidi marks, surrogates) escaped."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


class _Page:
    """Text that grows. Lines are wrapped at `width`; a table whose columns cannot be narrower sticks out."""

    def __init__(self, width: int, color: bool) -> None:
        from rich.console import Console

        self._width = width
        self._file = io.StringIO()
        self._console = Console(
            file=self._file, width=_ANY, force_terminal=color, no_color=not color, highlight=False, legacy_windows=False
        )

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Add a line of parts, each plain or with its style."""
        from rich.text import Text

        self._console.print(Text.assemble(*parts), width=self._width)

    def table(self, table: Table) -> None:
        """Add a table with its title and its notes; without intervals where the page has no room for them."""
        grid, remarks = _grid(table, table.brief), [table.note]
        wanted = self._console.measure(grid).maximum
        if wanted > self._width and _has_intervals(table):
            grid = _grid(table, table.labels)
            remarks.append(f"The page is too narrow for intervals; --width {wanted} shows them.")
        if table.excerpt is not None and (more := len(table.rows) - table.excerpt) > 0:
            remarks.insert(0, f"... and {more:,} more rows: --table {table.key} shows all.")
        self.line((table.title, "bold"), (f"  ({table.source})" if table.source else "", "dim"))
        self._console.print(grid, width=max(self._width, self._console.measure(grid).minimum))
        for remark in filter(None, remarks):
            self.line((remark, "dim"))
        self.line()

    def text(self) -> str:
        """Return the page."""
        return "\n".join(line.rstrip() for line in self._file.getvalue().splitlines()) + "\n"


def _has_intervals(table: Table) -> bool:
    return any(isinstance(cell, Rate | Difference) for row in table.rows for cell in row[: table.brief])


def _grid(table: Table, brief: int | None) -> RichTable:
    """Lay the table out, without intervals from column `brief` on."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(table.columns):
        label = place < table.labels
        grid.add_column(Text(printable(column)), justify="left" if label else "right", overflow="fold", no_wrap=label)
    for row in table.rows[: table.excerpt]:
        cells = (cell_text(cell, brief=brief is not None and place >= brief) for place, cell in enumerate(row))
        grid.add_row(*map(Text, cells))
    return grid


def _words(value: Json) -> str:
    match value:
        case dict():
            return ", ".join(f"{name} {_words(item)}" for name, item in cast("dict[str, Json]", value).items())
        case list():
            return ", ".join(map(_words, cast("list[Json]", value)))
        case None:
            return "none"
        case str() if _SHA256.fullmatch(value):
            return value[:16]
        case _:
            return str(value)

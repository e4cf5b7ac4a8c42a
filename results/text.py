"""Tables and reports as text for a terminal: equal values give equal bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, cast

from ..adapters.base import Json
from ..adapters.printable import printable
from .report import Report
from .shown import cell_text
from .table import Table

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["WIDTH", "cell_text", "render", "report_text"]

WIDTH: Final = 160
"""Columns of a page that is not shown on a terminal."""

_INDENT = 12
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
        page.fact(name, printable(words(value)))
    for warning in report.warnings:
        page.line(("warning", "bold red"), f": {printable(warning)}")
    page.line()
    for table in report.tables:
        page.table(table)
    return page.text()


def words(value: Json) -> str:
    """Return a fact in words; of a digest its first 16 digits."""
    match value:
        case dict():
            return ", ".join(_named(name, item) for name, item in cast("dict[str, Json]", value).items())
        case list():
            return ", ".join(map(words, cast("list[Json]", value))) or "none"
        case None:
            return "none"
        case str() if _SHA256.fullmatch(value):
            return value[:16]
        case _:
            return str(value)


class _Page:
    """Text that grows. Lines are wrapped at `width`; a table that has a wider column sticks out."""

    def __init__(self, width: int, color: bool) -> None:
        from rich.console import Console

        self._width = width
        self._file = io.StringIO()
        self._console = Console(
            file=self._file,
            width=width,
            force_terminal=color,
            no_color=not color,
            highlight=False,
            legacy_windows=False,
        )

    def line(self, *parts: str | tuple[str, str] | Text) -> None:
        """Add a line of parts, each plain or with its style."""
        from rich.text import Text

        self._console.print(Text.assemble(*parts))

    def fact(self, name: str, value: str) -> None:
        """Add what something is, the name at the margin, and what does not fit on one line indented."""
        from rich.padding import Padding
        from rich.text import Text

        lines = Text(value).wrap(self._console, max(20, self._width - _INDENT))
        self.line((f"{name:<{_INDENT}}", "dim"), lines[0] if lines else "")
        for line in lines[1:]:
            self._console.print(Padding(line, (0, 0, 0, _INDENT)))

    def table(self, table: Table) -> None:
        """Add a table with its title, its panels and its notes."""
        from .grid import layout

        remarks = [table.note]
        if table.excerpt is not None and (more := len(table.rows) - table.excerpt) > 0:
            remarks.insert(0, f"... and {more:,} more rows: --table {table.key} shows all.")
        if table.brief is not None:
            remarks.append(f"Intervals: --table {table.key}.")
        if table.title:
            self.line((printable(table.title), "bold"), (f"  ({table.source})" if table.source else "", "dim"))
        for panel in layout(table, self._width):
            self.line()
            self._raw(panel.header, "bold")
            self._raw([" " + "─" * (max(map(len, panel.header)) - 1)], "dim")
            self._raw(panel.body, "")
        self.line()
        for remark in filter(None, remarks):
            self.line((printable(remark), "dim"))
        self.line()

    def text(self) -> str:
        """Return the page."""
        return "\n".join(line.rstrip() for line in self._file.getvalue().splitlines()) + "\n"

    def _raw(self, lines: Iterable[str], style: str) -> None:
        """Add lines as they are, also those that are wider than the page."""
        for line in lines:
            self._console.print(line, style=style, markup=False, no_wrap=True, overflow="ignore", crop=False)


def _named(name: str, value: Json) -> str:
    return f"{name} ({words(value)})" if isinstance(value, dict) else f"{name} {words(value)}"

"""Tables and rates as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..shown import cell_text, is_text, shown
from ..table import Cell, Rate, Table
from .markup import Markup, join, tag

LONG: Final = 60
"""Rows from which a table scrolls within itself."""


def table_markup(table: Table, before: str = "") -> Markup:
    """Return a table with its title and note; intervals stand small under their numbers."""
    source = tag("span", table.source, class_="source") if table.source else None
    classes = [None if is_text(table, place) else "number" for place in range(len(table.columns))]
    head = tag(
        "tr", *(tag("th", name, scope="col", class_=each) for name, each in zip(table.columns, classes, strict=True))
    )
    rows = (tag("tr", *_cells(row, table.labels, classes)) for row in table.rows)
    box = "wide long" if len(table.rows) > LONG else "wide"
    grid = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag(
        "div",
        tag("h3", before, table.title, " ", source),
        tag(
            "div",
            grid,
            class_=box,
            tabindex=0,
            role="region",
            aria_label=table.title,
        ),
        tag("p", table.note, class_="note") if table.note else None,
        class_="table",
        id=f"table-{table.key}" if not before else None,
    )


def rate_bar(rate: Rate) -> Markup:
    """Return a rate as a bar with its interval, from 0 to 100 %."""
    value = 100 * (rate.value or 0)
    bar = tag("rect", width=f"{value:.2f}", height=10, class_="value")
    whisker = tag("line", x1=f"{100 * rate.low:.2f}", x2=f"{100 * rate.high:.2f}", y1=5, y2=5, class_="interval")
    back = tag("rect", width=100, height=10, class_="track")
    return tag(
        "svg", back, bar, whisker if rate.scored else None, class_="bar", viewBox="0 0 100 10",
        preserveAspectRatio="none", aria_hidden="true",
    )  # fmt: skip


def _cells(row: Sequence[Cell], labels: int, classes: Sequence[str | None]) -> Iterator[Markup]:
    for place, (cell, each) in enumerate(zip(row, classes, strict=True)):
        if place < labels:
            yield tag("th", cell_text(cell), scope="row", class_=each)
        else:
            yield tag("td", _cell(cell), class_=each)


def _cell(cell: Cell) -> Markup:
    """Return a cell's text, its interval apart."""
    parts = shown(cell)
    interval = tag("small", parts.interval) if parts.interval else None
    return join(parts.text(brief=True), interval)

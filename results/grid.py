"""A table laid out in characters. Words are never broken and numbers never wrapped: a page that is too narrow gets
headers of several lines, then intervals under their numbers, and then the table in panels, each with the row labels."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from ..adapters.printable import printable
from .shown import is_text, shown
from .table import Cell, Table

GAP: Final = 3
TALLEST: Final = 3
"""Lines of a header that is wrapped."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Some columns of a table, ready to print."""

    header: list[str]
    body: list[str]


def layout(table: Table, width: int) -> list[Panel]:
    """Return the table in as few panels as `width` allows, one if it can be; a column wider than that sticks out."""
    places = range(len(table.columns))
    columns = [_Column(table, place, stacked=False) for place in places]
    if not (widths := _least_tall(columns, width)) and _intervals(table):
        columns = [_Column(table, place, stacked=True) for place in places]
        widths = _least_tall(columns, width)
    if widths:
        return [_panel(columns, widths)]
    labels, rest = columns[: table.labels], columns[table.labels :]
    return [_panel(part, [column.least(TALLEST) for column in part]) for part in _split(labels, rest, width)]


class _Column:
    """One column's words and lines. `stacked` puts each interval on a line of its own."""

    def __init__(self, table: Table, place: int, *, stacked: bool) -> None:
        self.text = is_text(table, place)
        self.label = place < table.labels
        self.header = printable(table.columns[place])
        brief = table.brief is not None and place >= table.brief
        self.cells = [_lines(row[place], brief, stacked) for row in table.rows[: table.excerpt]]
        self._widest = max((cell_len(line) for lines in self.cells for line in lines), default=0)
        words = (word for lines in self.cells for line in lines for word in line.split())
        self._longest_word = max(map(cell_len, words), default=0)

    def natural(self, height: int) -> int:
        """Return the width that holds every cell on its lines, the header in `height` lines."""
        return max(self._widest, _header_width(self.header, height))

    def least(self, height: int) -> int:
        """Return the smallest width: text other than labels may be wrapped between words."""
        wrappable = self.text and not self.label
        return max(self._longest_word if wrappable else self._widest, _header_width(self.header, height))

    def set(self, lines: Sequence[str], width: int) -> list[str]:
        """Return lines padded to `width`, wrapped first where they are wider."""
        wrapped = [part for line in lines for part in (_wrap(line, width) if cell_len(line) > width else [line])]
        pads = [" " * (width - cell_len(line)) for line in wrapped]
        return [line + pad if self.text else pad + line for line, pad in zip(wrapped, pads, strict=True)]


def _lines(cell: Cell, brief: bool, stacked: bool) -> list[str]:
    found = shown(cell)
    if brief or not stacked or not found.interval:
        return [found.text(brief=brief)]
    return [found.text(brief=True), found.interval]


def _intervals(table: Table) -> bool:
    return any(shown(cell).interval for row in table.rows for cell in row[: table.brief])


def _least_tall(columns: Sequence[_Column], width: int) -> list[int] | None:
    """Return widths with which the columns fit under the lowest header that lets them, or None."""
    return next(filter(None, (_fitting(columns, height, width) for height in range(1, TALLEST + 1))), None)


def _fitting(columns: Sequence[_Column], height: int, width: int) -> list[int] | None:
    """Return widths with which the columns fit, or None. The widest text gives way first."""
    widths = [column.natural(height) for column in columns]
    while (over := _total(widths) - width) > 0:
        slack = [have - column.least(height) for have, column in zip(widths, columns, strict=True)]
        place = max(range(len(columns)), key=lambda place: widths[place] if slack[place] else 0)
        if not slack[place]:
            return None
        widths[place] -= min(over, slack[place])
    return widths


def _split(labels: list[_Column], rest: list[_Column], width: int) -> list[list[_Column]]:
    """Return the columns of each panel, the labels in all of them: as few panels as can be, of about equal size."""
    for size in range(len(rest), 1, -1):
        count = -(-len(rest) // size)
        even = -(-len(rest) // count)
        parts = [[*labels, *rest[first : first + even]] for first in range(0, len(rest), even)]
        if all(_total([column.least(TALLEST) for column in part]) <= width for part in parts):
            return parts
    return [[*labels, column] for column in rest] or [labels]


def _total(widths: Sequence[int]) -> int:
    return 1 + sum(widths) + GAP * (len(widths) - 1)


def _panel(columns: Sequence[_Column], widths: Sequence[int]) -> Panel:
    pairs = list(zip(columns, widths, strict=True))
    headers = [column.set([column.header], width) for column, width in pairs]
    tall = max(map(len, headers))
    headers = [[" " * width] * (tall - len(lines)) + lines for lines, width in zip(headers, widths, strict=True)]
    rows = zip(*(column.cells for column in columns), strict=True)
    bodies = [_merge([c.set(cell, w) for cell, (c, w) in zip(row, pairs, strict=True)], widths) for row in rows]
    return Panel(_merge(headers, widths), [line for body in bodies for line in body])


def _merge(cells: Sequence[list[str]], widths: Sequence[int]) -> list[str]:
    """Return the lines of one row, whose cells may have fewer lines than the tallest."""
    tall = max(map(len, cells))
    padded = [lines + [" " * width] * (tall - len(lines)) for lines, width in zip(cells, widths, strict=True)]
    return [" " + (" " * GAP).join(parts) for parts in zip(*padded, strict=True)]


def _header_width(header: str, height: int) -> int:
    """Return the smallest width in which `header` takes at most `height` lines, broken between words only."""
    words = header.split()
    least = max(map(cell_len, words), default=0)
    return next(width for width in range(least, cell_len(header) + 1) if len(_wrap(header, width)) <= height)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(1, width), break_long_words=False, break_on_hyphens=False) or [""]

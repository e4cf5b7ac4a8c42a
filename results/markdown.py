"""Tables and reports as Markdown with GitHub's tables: everything is there, in one line per row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..adapters.printable import printable
from .report import Report
from .shown import cell_text, is_text
from .table import Cell, Table
from .text import words

_SPECIAL: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|~#"})


def markdown(table: Table) -> str:
    """Return a table under its title, with its note."""
    aligned = [":--" if is_text(table, place) else "--:" for place in range(len(table.columns))]
    source = f" ({escaped(table.source)})" if table.source else ""
    lines = [
        f"### {escaped(table.title)}{source}",
        "",
        _row([escaped(column) for column in table.columns]),
        _row(aligned),
        *(_row([_cell(cell) for cell in row]) for row in table.rows),
    ]
    return "\n".join([*lines, *(["", escaped(table.note)] if table.note else [])]) + "\n"


def report_markdown(report: Report) -> str:
    """Return a whole report."""
    return "\n".join([*_head(report), *map(markdown, report.tables)])


def escaped(text: str) -> str:
    """Return `text` so that Markdown shows it as it is."""
    return printable(text).translate(_SPECIAL)


def _head(report: Report) -> Iterator[str]:
    yield f"## {escaped(report.title)}\n"
    for word, meaning in report.marks.items():
        yield f"**{escaped(word)}**: {escaped(meaning)}\n"
    yield "\n".join(f"- {escaped(name)}: {escaped(words(value))}" for name, value in report.facts.items()) + "\n"
    for warning in report.warnings:
        yield f"**warning**: {escaped(warning)}\n"


def _cell(cell: Cell) -> str:
    """Return a cell; of a number only its star could be taken for markup."""
    return escaped(cell) if isinstance(cell, str) else cell_text(cell).replace("*", "\\*")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"

"""A report in the form that a user asks for, as one text or as files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Final, Literal, TypeAlias

from ..adapters.base import ConfigurationError, Json
from .report import Report
from .table import Table

Format: TypeAlias = Literal["text", "markdown", "latex", "csv", "json"]
SUFFIXES: Final[dict[Format, str]] = {
    "text": ".txt", "markdown": ".md", "latex": ".tex", "csv": ".csv", "json": ".json",
}  # fmt: skip


def format_of(path: PurePath) -> Format | None:
    """Return the format that a file's name ends in, if it does."""
    return next((name for name, suffix in SUFFIXES.items() if path.suffix == suffix), None)


def written(report: Report, form: Format, *, width: int, color: bool = False, beside: Json = None) -> str:
    """Return the report as one text. `beside` joins it in JSON, under `operations`.

    Raises ConfigurationError for more than one table as CSV, which holds one.
    """
    match form:
        case "text":
            from .text import report_text

            return report_text(report, width, color=color)
        case "json":
            return json.dumps({"report": report.to_json()} | ({"operations": beside} if beside else {})) + "\n"
        case "markdown":
            from .markdown import report_markdown

            return report_markdown(report)
        case "latex":
            from .latex import report_latex

            return report_latex(report.marked())
        case "csv":
            return _single(report)


def files(report: Report, form: Format, *, width: int, beside: Json = None) -> Iterator[tuple[str, str]]:
    """Yield names and contents for a folder: a file per table where the form has tables only, and what they are about.

    Tables with titles carry the report's marks in them (SIMULATED, INCOMPLETE); of those in CSV, `about.txt` tells.
    """
    if form in ("text", "json"):
        yield f"report{SUFFIXES[form]}", written(report, form, width=width, beside=beside)
        return
    yield "about.txt", written(replace(report, tables=[]), "text", width=width)
    for table in report.marked().tables:
        yield f"{safe(table.key)}{SUFFIXES[form]}", _alone(table, form)


def safe(key: str) -> str:
    """Return a table's key as a file's name: keys may hold a model's label, and that anything."""
    return "".join(sign if sign.isalnum() or sign in "._-" else "_" for sign in key).lstrip(".") or "table"


def _alone(table: Table, form: Format) -> str:
    from .csvfile import csv_text
    from .latex import latex
    from .markdown import markdown

    return {"markdown": markdown, "latex": latex}.get(form, csv_text)(table)


def _single(report: Report) -> str:
    if len(report.tables) != 1:
        keys = ", ".join(table.key for table in report.tables)
        raise ConfigurationError(
            f"a CSV file holds one table: choose it with --table, or name a folder with --out. There are {keys}."
        )
    return _alone(report.tables[0], "csv")

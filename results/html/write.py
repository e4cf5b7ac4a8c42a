"""Writes the report of run folders as one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...engine.system.files import replace_file
from ..reading import RunFolder
from ..report import Report
from ..table import Table
from .gather import pack
from .markup import Markup
from .packing import Packed
from .page import page

NOTHING = Packed(index="", shared="", blocks=(), count=0)


async def write_html(
    path: Path,
    runs: Sequence[RunFolder],
    report: Report,
    drawn: Callable[[], Mapping[str, Markup]],
    operations: Sequence[tuple[str, Table]] = (),
) -> int:
    """Write the report of `runs` to `path` and return its size in bytes. A crash leaves the old file, or the new one.

    `drawn` waits for the report's figures by key, `operations` are tables with the folder that each is about.
    """
    packed, warnings = await pack(runs, report.reading) if report.reading else (NOTHING, [])
    told = replace(report, warnings=[*report.warnings, *warnings])
    content = page(told, drawn(), packed, operations).encode("utf-8", "backslashreplace")
    replace_file(path, content)
    return len(content)

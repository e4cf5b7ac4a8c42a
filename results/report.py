"""A report as values: what was run and how far it came, then tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..adapters.base import Json
from .published import Published
from .reading import RunFolder
from .table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a benchmark's runs came to, from their answers alone: no clock, no folder, no order of arrival.

    `marks` are what no reader may miss (SIMULATED, SYNTHETIC, INCOMPLETE), by their word; `facts` say what was run.
    `published` reads what the benchmark's paper states, for whoever wants it beside.
    """

    title: str
    marks: Mapping[str, str]
    facts: Mapping[str, Json]
    warnings: Sequence[str]
    tables: Sequence[Table]
    published: Callable[[], Published] | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the report with every number raw."""
        return {
            "title": self.title,
            "marks": dict(self.marks),
            "facts": dict(self.facts),
            "warnings": list(self.warnings),
            "tables": [table.to_json() for table in self.tables],
        }


Reporter: TypeAlias = Callable[[Sequence[RunFolder]], Report]
"""What an entry point in `turntide.reports` loads to, under its benchmark's name: run folders that are read as one.

It raises ConfigurationError when they do not belong together, or hold nothing to report.
"""

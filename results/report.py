"""A report as values: what was run and how far it came, then tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from ..adapters.base import Json
from .figures.figure import Figure
from .published import Published
from .reading import RunFolder
from .table import Rate, Table

Records: TypeAlias = Sequence[Mapping[str, Any]]

BOUNDS: Final = "`report --table completeness` has the bounds"
"""Where the rates of an incomplete run stand as they could still be: comparisons share its mark and not its table, and
of a run in which nothing is scored there is none."""

SINGLY: Final = 6
"""Up to how many models a headline tells apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A dialogue as a list shows it: `facets` to filter by, and a word for each thing that it came to, in order."""

    facets: Mapping[str, str]
    outcomes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a benchmark's dialogues are read.

    `listed` tells what the records of one dialogue say, also of an unfinished one. `right` are the outcomes that count
    as a success, `unscored` those that are not counted, and `endings` those that only say why no more answers came;
    every other is a failure. `order` has the values of facets whose order means something; dialogues are listed by it.
    Of a prompt's `## ` sections, `question` is shown first and the `quiet` ones are folded. `references` name the gold
    statements of a turn in the order in which the benchmark asks for them; `servers` are options of a run that only say
    where something is kept, so that dialogues are replayed without them.
    """

    listed: Callable[[Records], Listed]
    right: frozenset[str]
    unscored: frozenset[str] = frozenset()
    endings: frozenset[str] = frozenset()
    order: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    question: str = ""
    quiet: frozenset[str] = frozenset()
    references: Sequence[str] = ("gold",)
    servers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a benchmark's runs came to, from their answers alone: no clock, no folder, no order of arrival.

    `marks` are what no reader may miss (SIMULATED, SYNTHETIC, INCOMPLETE), by their word; `facts` say what was run.
    `published` reads what the benchmark's paper states, for whoever wants it beside.
    `headline` are the numbers that a reader looks for first, by measure and `by_model`; `scored` and `paid` say in
    words how much is there and what the answers cost. `empty` are tables that these runs might have filled and did
    not: shown to who asks for them.
    """

    title: str
    marks: Mapping[str, str]
    facts: Mapping[str, Json]
    warnings: Sequence[str]
    tables: Sequence[Table]
    published: Callable[[], Published] | None = None
    headline: Mapping[str, Mapping[str, Rate]] = field(default_factory=dict[str, Mapping[str, Rate]])
    scored: str = ""
    paid: str = ""
    figures: Sequence[Figure] = ()
    empty: Sequence[Table] = ()
    reading: Reading | None = None

    def marked(self) -> Report:
        """Return the report with its marks in every table's title: for tables that leave it, into a paper say."""
        if not self.marks:
            return self
        words = f" [{', '.join(self.marks)}]"
        return replace(self, tables=[replace(table, title=table.title + words) for table in self.tables])

    def to_json(self) -> dict[str, Json]:
        """Return the report with every number raw."""
        return {
            "title": self.title,
            "marks": dict(self.marks),
            "facts": dict(self.facts),
            "warnings": list(self.warnings),
            "tables": [table.to_json() for table in self.tables],
        }


def by_model(models: Sequence[str], rate: Callable[[str | None], Rate]) -> dict[str, Rate]:
    """Return the rate of each model that it was planned for; of more than six models that of all, under this name."""
    if len(models) > SINGLY:
        return {"all models": rate(None)}
    return {model: each for model in models if (each := rate(model)).planned}


def parted(tables: Iterable[Table]) -> tuple[list[Table], list[Table]]:
    """Return the tables that hold something, and those that hold nothing."""
    found = list(tables)
    return [table for table in found if table.rows], [table for table in found if not table.rows]


Reporter: TypeAlias = Callable[[Sequence[RunFolder]], Report]
"""What an entry point in `turntide.reports` loads to, under its benchmark's name: run folders that are read as one.

It raises ConfigurationError when they do not belong together, and NothingScored when they hold nothing to report.
"""

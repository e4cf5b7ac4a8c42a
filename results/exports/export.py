"""What an entry point in `turntide.exports` loads to: how a benchmark's dialogues become rows and samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..reading import RunFolder
from .columns import Table
from .dialogue import Dialogue
from .samples import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A benchmark's side of every export.

    `marks` are those of the runs' report, and raise ConfigurationError when the runs do not belong together; `headline`
    is the score that decides; `data` says in Markdown where the benchmark's data come from and which licences hold.
    `servers` are options that only say where something is kept, so that dialogues are replayed without them.
    """

    title: str
    tables: Sequence[Table[Any]]
    samples: Callable[[Dialogue], Iterator[Sample]]
    marks: Callable[[Sequence[RunFolder]], Mapping[str, str]]
    headline: str
    data: str
    servers: frozenset[str] = frozenset()

"""What a run is doing now, counted as it happens: the panel, the plain lines and the summary read it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from ..adapters.base import Fatal, Fault
from .journal import Fields

LINGER: Final = 2e-4
LONGEST_LINGER: Final = 5e-3
"""Seconds for which the journal's next group waits for company: per call on the wire, and at most. Nothing beside what
a model takes, and a group costs as much CPU time as several lines do."""


@dataclass(slots=True)
class ModelProgress:
    """One model's counts. `planned`, `done` and `running` are units; the rest are calls.

    `batched` are in open batches; `slowest` is the longest that an answer took on the wire, in seconds; `ended` is when
    the model's last lane ended in this part, if it had one left; `last_failure` is a provider's, `last_stop` one of a
    part of our own.
    """

    planned: int = 0
    done: int = 0
    unfinished: int = 0
    running: int = 0
    on_the_wire: int = 0
    batched: int = 0
    backing_off: int = 0
    answers: int = 0
    sends: int = 0
    slowest: float = 0.0
    retries: Counter[str] = field(default_factory=Counter[str])
    last_failure: str = ""
    last_stop: str = ""
    ended: datetime | None = None

    def departs(self) -> None:
        """A call goes out."""
        self.sends += 1
        self.on_the_wire += 1

    def lands(self) -> None:
        """A call came back, or was cut."""
        self.on_the_wire -= 1


@dataclass(slots=True)
class Progress:
    """All models' counts, by label. `replayed` counts the answers that the journal had already, by label too."""

    models: defaultdict[str, ModelProgress] = field(default_factory=lambda: defaultdict(ModelProgress))
    replayed: Counter[str] = field(default_factory=Counter[str])
    gold_planned: int = 0
    gold_checked: int = 0
    to_examine: int = 0
    examined: int = 0
    unscored: Counter[str] = field(default_factory=Counter[str])
    """Units that ended without a score, in this part and earlier ones, by the benchmark's word for the fault."""

    @property
    def left(self) -> int:
        """The planned dialogues that are not done."""
        return sum(counts.planned - counts.done for counts in self.models.values())

    def visit(self, line: Fields) -> None:
        """Count the unscored ends of earlier parts."""
        if line["k"] == "end" and "unscored" in line:
            self.unscored[line["unscored"]] += 1

    def of(self, model: str) -> ModelProgress:
        """Return the counts of `model`."""
        return self.models[model]

    def linger(self) -> float:
        """Return how long the journal's next group should wait for company, in seconds."""
        return min(LONGEST_LINGER, LINGER * sum(counts.on_the_wire for counts in self.models.values()))

    @contextmanager
    def backing_off(self, model: str) -> Generator[None]:
        """Count a question whose first attempt failed, until it is answered or given up."""
        counts = self.of(model)
        counts.backing_off += 1
        try:
            yield
        finally:
            counts.backing_off -= 1

    def answered(self, model: str, seconds: float) -> None:
        """Count an answer that took `seconds` on the wire."""
        counts = self.of(model)
        counts.answers += 1
        counts.slowest = max(counts.slowest, seconds)

    def failed(self, model: str, failure: Fault | Fatal) -> None:
        """Count a failed attempt by class: rate limit, overloaded, server, time-out, network, malformed, fatal."""
        counts = self.of(model)
        counts.retries[failure.kind] += 1
        counts.last_failure = failure.message

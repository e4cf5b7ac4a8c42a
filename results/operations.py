"""How a run went, of any benchmark: sends, failures, latency, limits, money, and the processes that worked on it.

Operations are never results: they hold clocks, and two runs with equal results have different ones.
"""

from __future__ import annotations

import copy
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ..adapters.base import Json
from ..engine.calls.batching.lines import BATCH, unmade
from ..engine.calls.budget import Budget
from ..engine.calls.ledger import Ledger
from ..engine.folder.parts import PART
from ..engine.journal import Fields, Key, key_of
from ..engine.watch.pulse import PULSE
from .reading import RunFolder, never_sent

_STEP: Final = math.log(1.02)
_LEAST: Final = 0.001
"""Seconds; what is shorter counts as nothing."""


class Spread:
    """How durations are spread, within 1 %, in constant memory: counts by bins that grow by 2 %."""

    def __init__(self) -> None:
        self._bins: Counter[int] = Counter()
        self.total = 0.0
        self.count = 0

    def add(self, seconds: float) -> None:
        """Take in one duration."""
        self._bins[round(math.log(seconds / _LEAST) / _STEP) if seconds > _LEAST else -1] += 1
        self.total += seconds
        self.count += 1

    def quantile(self, share: float) -> float | None:
        """Return the duration, in seconds, that `share` of them do not exceed; None when there is none."""
        left = math.ceil(share * self.count)
        for place in sorted(self._bins):
            left -= self._bins[place]
            if left <= 0:
                return 0.0 if place < 0 else _LEAST * math.exp(place * _STEP)
        return None

    def to_json(self) -> dict[str, Json]:
        """Return p50, p90, p99 and the sum, in seconds."""
        quantiles = {f"p{share}": self.quantile(share / 100) for share in (50, 90, 99)}
        return {**quantiles, "sum": self.total}


@dataclass(slots=True)
class ModelOperations:
    """One model's counts over all parts. `planned` and `done` are dialogues, the rest calls.

    `failures` counts failed attempts by class; `returned` counts answers by the model id that came back; `queued` is
    the time before the sends of an answered call, `took` the time on the wire of its last one.
    """

    planned: int = 0
    done: int = 0
    sends: int = 0
    answers: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    returned: Counter[str] = field(default_factory=Counter[str])
    queued: Spread = field(default_factory=Spread)
    took: Spread = field(default_factory=Spread)

    def to_json(self) -> dict[str, Json]:
        """Return the counts; durations in seconds."""
        return {
            "dialogues_planned": self.planned,
            "dialogues_done": self.done,
            "sends": self.sends,
            "answers": self.answers,
            "failures": dict(sorted(self.failures.items())),
            "returned": dict(sorted(self.returned.items())),
            "queue_seconds": self.queued.to_json(),
            "model_seconds": self.took.to_json(),
        }


@dataclass(slots=True)
class LimitChanges:
    """How often one limit changed for one reason, and its latest value (for a pause: its seconds)."""

    count: int = 0
    latest: float | None = None


@dataclass(slots=True)
class Part:
    """One process's work on the run; without `ended` it was killed, its disk was full, or it is still at it.

    Times are UTC in ISO 8601. `reasons` are why it ended before the plan was done; `models` says so of each model.
    `pulses` are the journal's lines about how it went meanwhile (`engine.watch.pulse`).
    """

    began: str
    ended: str | None = None
    state: str = ""
    reasons: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    pulses: list[Fields] = field(default_factory=list[Fields])

    @property
    def wall(self) -> float | None:
        """How long it took, in seconds; None when it did not say that it ended."""
        if self.ended is None:
            return None
        return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.began)).total_seconds()

    def to_json(self) -> dict[str, Json]:
        """Return the part; its wall time in seconds."""
        return {
            "began": self.began,
            "ended": self.ended,
            "wall_seconds": self.wall,
            "state": self.state,
            "reasons": list(self.reasons),
            "models": dict(self.models),
        }


@dataclass(slots=True)
class BatchRecord:
    """One batch: `id` is "" until the provider gave one, `how` until it ended. Times are UTC in ISO 8601."""

    model: str
    calls: int
    made: str
    id: str = ""
    ended: str | None = None
    how: str = ""
    answers: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return the batch."""
        return {name: getattr(self, name) for name in self.__slots__}


class Operations:
    """What a journal tells of how its run went. `open` counts sends that nothing followed: on the wire, or lost.

    `limits` sums up the changes of an account's limits, by account, limit and reason.
    """

    def __init__(self, labels: list[str]) -> None:
        self.models = defaultdict(ModelOperations, {label: ModelOperations() for label in labels})
        self.budget = Budget()
        self.parts: list[Part] = []
        self.tainted: set[str] = set()
        self.batches: dict[str, BatchRecord] = {}
        self.limits: dict[tuple[str, str, str], LimitChanges] = {}
        self.last_failure = ""
        self.open = 0
        self._ledger = Ledger(self.budget)
        self._asked: dict[tuple[Key, int], str] = {}

    @classmethod
    def of(cls, run: RunFolder) -> Operations:
        """Read a run's journal through once."""
        operations = cls([model.label for model in run.models])
        operations.take(run.journal())
        return operations.now()

    def take(self, lines: Iterable[Fields]) -> None:
        """Take in the next lines of the journal."""
        for line in lines:
            if line["k"] not in ("record", "sql"):  # half of all lines, and results
                self._visit(line)

    def now(self) -> Operations:
        """Return what there is to say after the lines so far; what is open counts at its worst case."""
        found = copy.deepcopy(self)
        found.open = found._ledger.close()
        return found

    @property
    def open_batches(self) -> list[BatchRecord]:
        """Batches of which the journal holds no end: their calls are among the open sends."""
        return [batch for batch in self.batches.values() if batch.ended is None]

    @property
    def planned(self) -> int:
        """Dialogues planned."""
        return sum(model.planned for model in self.models.values())

    @property
    def done(self) -> int:
        """Dialogues that came to their end."""
        return sum(model.done for model in self.models.values())

    def _visit(self, line: Fields) -> None:
        self._ledger.visit(line)
        match line["k"]:
            case "sent":
                self._asked[key_of(line), line["n"]] = line["m"]
                self.models[line["m"]].sends += 1
            case "answer":
                self._answered(line)
            case "fail":
                self._asker(line).failures[line["kind"]] += 1
                self.last_failure = line["message"]
            case "end":
                self.models[line["m"]].done += 1
            case "limit":
                changes = self.limits.setdefault((line["account"], line["limit"], line["why"]), LimitChanges())
                changes.count, changes.latest = changes.count + 1, line["new"]
            case "tainted":
                self.tainted.update(line["databases"])
            case kind if kind == BATCH:
                self._batch(line)
            case kind if kind in (PART, PULSE):
                self._part(line)
            case _:
                pass

    def _answered(self, line: Fields) -> None:
        model = self._asker(line)
        model.answers += 1
        model.returned[line["model"]] += 1
        model.queued.add(line["queued"])
        model.took.add(line["took"])

    def _batch(self, line: Fields) -> None:
        if "made" in line:
            self.batches[line[BATCH]] = BatchRecord(line["m"], line["calls"], line["made"])
            return
        batch = self.batches.get(line[BATCH])
        if batch is None:
            raise unmade(line[BATCH])
        if "id" in line:
            batch.id = line["id"]
        else:
            batch.ended, batch.how, batch.answers = line["ended"], line["how"], line["answers"]

    def _part(self, line: Fields) -> None:
        if "began" in line:
            self.parts.append(Part(line["began"]))
            for label, planned in line["planned"].items():
                self.models[label].planned = planned
        elif self.parts and line["k"] == PULSE:
            self.parts[-1].pulses.append(line)
        elif self.parts:
            last = self.parts[-1]
            last.ended, last.state, last.reasons = line["ended"], line["state"], tuple(line["reasons"])
            last.models = line.get("models", {})

    def _asker(self, line: Fields) -> ModelOperations:
        label = self._asked.pop((key_of(line), line["n"]), None)
        if label is None:
            raise never_sent(line)
        return self.models[label]

    def to_json(self) -> dict[str, Any]:
        """Return everything; money in USD as text, so that no digit is lost."""
        return {
            "models": {label: model.to_json() for label, model in self.models.items()},
            "open_sends": self.open,
            "known_usd": str(self.budget.known),
            "exposed_usd": str(self.budget.exposed),
            "last_failure": self.last_failure,
            "tainted_databases": sorted(self.tainted),
            "limit_changes": [
                {"account": account, "limit": limit, "why": why, "count": changes.count, "latest": changes.latest}
                for (account, limit, why), changes in self.limits.items()
            ],
            "batches": [batch.to_json() for batch in self.batches.values()],
            "parts": [part.to_json() for part in self.parts],
        }

"""All scored turns of one or more runs, and the ways to count them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

from ...datasets.enterprisemem.record import Plan, PlannedTurns, TurnRecord
from ..statistics.clustered import mean
from ..statistics.intervals import wilson
from ..table import Difference, Rate

Where: TypeAlias = Callable[[TurnRecord], bool]
PlannedWhere: TypeAlias = Callable[[PlannedTurns], bool]


@dataclass(slots=True)
class Spent:
    """Tokens and money of the answers that count, in one cell."""

    answers: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0


@dataclass(slots=True)
class Turns:
    """The scored turns of a sweep beside its plan."""

    plan: Plan
    records: list[TurnRecord] = field(default_factory=list[TurnRecord])
    spent: dict[tuple[str, str], Spent] = field(default_factory=lambda: defaultdict[tuple[str, str], Spent](Spent))
    _cells: dict[tuple[str, str], list[TurnRecord]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], list[TurnRecord]](list)
    )

    def add(self, record: TurnRecord) -> None:
        """Take in a scored turn."""
        self.records.append(record)
        self._cells[record.model, record.condition].append(record)

    def cell(self, model: str | None, condition: str | None) -> Iterator[TurnRecord]:
        """Yield the turns of a cell; None means all models or all conditions."""
        for (m, c), records in self._cells.items():
            if model in (None, m) and condition in (None, c):
                yield from records

    def planned(self, model: str | None, condition: str | None, where: PlannedWhere) -> int:
        """Return how many turns of a kind a cell plans."""
        cells = (1 if model else len(self.plan.models)) * (1 if condition else len(self.plan.conditions))
        return cells * self.plan.repeats * sum(kind.count for kind in self.plan.turns if where(kind))

    def rate(
        self,
        model: str | None = None,
        condition: str | None = None,
        *,
        source: str | None = None,
        tier: int | None = None,
        turn: int | None = None,
    ) -> Rate:
        """Return execution accuracy (strict, section 3.3) over a part of the sweep."""

        def fits(each: TurnRecord | PlannedTurns) -> bool:
            return source in (None, each.source) and tier in (None, each.tier) and turn in (None, each.turn)

        hits = scored = 0
        for record in self.cell(model, condition):
            if fits(record):
                scored += 1
                hits += record.correct
        return rate(hits, scored, self.planned(model, condition, fits))

    def difference(self, model: str | None, of: str, minus: str, where: Where = lambda record: True) -> Difference:
        """Return EX of condition `of` minus EX of condition `minus` over the turns that were scored in both.

        Points with the cluster-robust interval of the paired differences; sessions of equal content are one cluster.
        """
        base = {_place(record): record.correct for record in self.cell(model, minus) if where(record)}
        pairs = [
            (int(record.correct) - int(base[place]), record.cluster)
            for record in self.cell(model, of)
            if where(record) and (place := _place(record)) in base
        ]
        if not pairs:
            return Difference(points=None)
        estimate = mean([float(value) for value, _ in pairs], [cluster for _, cluster in pairs])
        low, high = estimate.interval.low, estimate.interval.high
        return Difference(
            points=100 * estimate.value, low=max(-100.0, 100 * low), high=min(100.0, 100 * high), n=len(pairs)
        )

    def categories(self, model: str | None, condition: str | None) -> Counter[str]:
        """Return how many turns of a cell fell into each category."""
        return Counter(record.category for record in self.cell(model, condition))


def rate(hits: int, scored: int, planned: int) -> Rate:
    """Return a rate with Wilson's interval."""
    interval = wilson(hits, scored)
    return Rate(hits=hits, scored=scored, planned=planned, low=interval.low, high=interval.high)


def share(records: Iterable[TurnRecord], where: Where) -> tuple[int, int]:
    """Return how many of `records` satisfy `where`, and how many there are."""
    hits = total = 0
    for record in records:
        total += 1
        hits += where(record)
    return hits, total


def _place(record: TurnRecord) -> tuple[str, str, int, int]:
    return record.model, record.session, record.turn, record.repeat

"""All scored turns of a sweep as columns, and the ways to count them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...datasets.enterprisemem.record import Plan, PlannedTurns, TurnRecord
from ...datasets.enterprisemem.taxonomy import OUTSIDE, SIX
from ...engine.sql.comparison import COMPARISONS
from ..differences import difference, rate
from ..statistics import strata_mean
from ..table import Difference, Number, Rate

Flags: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.intp]

CATEGORIES: Final = (*SIX, *OUTSIDE)


@dataclass(frozen=True, slots=True)
class Kind:
    """Which turns of a cell: None takes all."""

    source: str | None = None
    tier: int | None = None
    turn: int | None = None

    def holds(self, planned: PlannedTurns) -> bool:
        """Return whether planned turns are of this kind."""
        wanted = ((self.source, planned.source), (self.tier, planned.tier), (self.turn, planned.turn))
        return all(own in (None, other) for own, other in wanted)

    def count(self, planned: Iterable[PlannedTurns]) -> int:
        """Return how many of the planned turns are of this kind."""
        return sum(each.count for each in planned if self.holds(each))


ALL: Final = Kind()


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the scored turns, by their rows, and how many of that kind were planned."""

    rows: Codes
    planned: int


class Turns:
    """The scored turns of a sweep beside its plan. All arrays have one entry per turn, in plan order.

    `cells` are the (model, condition) pairs that were planned: all of them, or what several runs make up together.
    `cluster` is equal for sessions of equal content, which cannot be told apart.
    """

    def __init__(self, plan: Plan, cells: frozenset[tuple[str, str]], records: Iterable[TurnRecord]) -> None:
        self.plan = plan
        self.cells = cells
        self.records = sorted(records, key=_order(plan))
        self.cluster = _codes(record.cluster for record in self.records)
        self.category = _positions(CATEGORIES, (record.category for record in self.records))
        self.correct = self.category == CATEGORIES.index("correct")
        self.agree = {
            name: self._flags(record.agree.get(name, False) for record in self.records) for name in COMPARISONS
        }
        self._model = _positions(plan.models, (record.model for record in self.records))
        self._condition = _positions(plan.conditions, (record.condition for record in self.records))
        self._place = _codes((r.model, r.session, r.turn, r.repeat) for r in self.records)
        self._turn = _codes((r.session, r.turn, r.repeat) for r in self.records)
        self._kinds: dict[str, NDArray[Any]] = {
            name: np.array([getattr(record, name) for record in self.records]) for name in ("source", "tier", "turn")
        }
        told = ((r.critical and r.fallback in ("matched", "other")) for r in self.records)
        self.tells_contamination = self._flags(told)
        self.contaminated = self._flags(record.fallback == "matched" for record in self.records)
        self.echoed = self._flags(record.echoed is not None for record in self.records)

    def _flags(self, values: Iterable[bool]) -> Flags:
        return np.fromiter(values, np.bool_, len(self.records))

    @property
    def models(self) -> list[str | None]:
        """The models, and None for all of them together when there are several."""
        return [*self.plan.models, None] if len(self.plan.models) > 1 else [*self.plan.models]

    @property
    def sources(self) -> list[str]:
        """The sources in plan order."""
        return list(dict.fromkeys(kind.source for kind in self.plan.turns))

    @property
    def depths(self) -> list[int]:
        """The turn numbers that are planned."""
        return sorted({kind.turn for kind in self.plan.turns})

    def sizes(self, kinds: Sequence[Kind]) -> str:
        """Return how many turns of each depth one cell plans, in words: the n of tables by turn."""
        return ", ".join(f"T{kind.turn} {self._each(kind):,}" for kind in kinds)

    def part(self, model: str | None = None, condition: str | None = None, kind: Kind = ALL) -> Part:
        """Return the turns of a kind in a cell; None means all models or all conditions."""
        cells = sum(model in (None, m) and condition in (None, c) for m, c in self.cells)
        return Part(np.flatnonzero(self._mask(model, condition, kind)), cells * self._each(kind))

    def rate(self, part: Part, hits: Flags | None = None, *, apart: bool = False) -> Rate:
        """Return the share of `hits` (default: correct turns) in a part, with Wilson's interval at the effective size.

        Execution accuracy is strict (section 3.3).
        """
        found = (self.correct if hits is None else hits)[part.rows]
        return rate(found, self._clusters(part.rows), part.planned, apart=apart)

    def share(self, rows: Codes, hits: Flags) -> Rate:
        """Return the share of `hits` among turns that only their answers pick out, so that no plan counts them."""
        return self.rate(Part(rows, len(rows)), hits, apart=True)

    def difference(self, model: str | None, of: str, minus: str, kind: Kind = ALL) -> Difference:
        """Return EX of condition `of` minus EX of condition `minus` over the turns that were scored in both."""
        a, b = self._pairs(self._place, (model, of), (model, minus), kind)
        pairs = sum(model in (None, m) and c == of and (m, minus) in self.cells for m, c in self.cells)
        return difference(self.correct[a], self.correct[b], self._clusters(a), pairs * self._each(kind))

    def between(self, of: str, minus: str, condition: str, kind: Kind = ALL) -> Difference:
        """Return EX of model `of` minus EX of model `minus` at one condition, over the turns scored for both."""
        a, b = self._pairs(self._turn, (of, condition), (minus, condition), kind)
        both = {(of, condition), (minus, condition)} <= self.cells
        return difference(self.correct[a], self.correct[b], self._clusters(a), self._each(kind) if both else 0)

    def macro(self, model: str | None, of: str, minus: str) -> Number | None:
        """Return the mean over sources of that difference between two conditions, in points; None while one lacks."""
        a, b = self._pairs(self._place, (model, of), (model, minus), ALL)
        sources = self._kinds["source"][a].tolist()
        if set(sources) != set(self.sources):
            return None
        gained = self.correct[a].astype(np.float64) - self.correct[b]
        found = strata_mean(gained, self._clusters(a), sources)
        low, high = max(-1.0, found.interval.low), min(1.0, found.interval.high)
        return Number(100 * found.value, signed=True, low=100 * low, high=100 * high)

    def _pairs(
        self, places: Codes, of: tuple[str | None, str], minus: tuple[str | None, str], kind: Kind
    ) -> tuple[Codes, Codes]:
        """Return the turns of two cells that stand at the same of `places`, in one order."""
        a, b = (np.flatnonzero(self._mask(*cell, kind)) for cell in (of, minus))
        _, in_a, in_b = np.intersect1d(places[a], places[b], assume_unique=True, return_indices=True)
        return a[in_a], b[in_b]

    def _clusters(self, rows: Codes) -> list[int]:
        return self.cluster[rows].tolist()

    def _mask(self, model: str | None, condition: str | None, kind: Kind) -> Flags:
        mask = np.ones(len(self.records), np.bool_)
        if model is not None:
            mask &= self._model == self.plan.models.index(model)
        if condition is not None:
            mask &= self._condition == self.plan.conditions.index(condition)
        for name, column in self._kinds.items():
            if (wanted := getattr(kind, name)) is not None:
                mask &= column == wanted
        return mask

    def _each(self, kind: Kind) -> int:
        return self.plan.repeats * kind.count(self.plan.turns)


def _order(plan: Plan) -> Callable[[TurnRecord], tuple[int, int, str, int, int]]:
    models = {name: place for place, name in enumerate(plan.models)}
    conditions = {name: place for place, name in enumerate(plan.conditions)}
    return lambda r: (models[r.model], conditions[r.condition], r.session, r.turn, r.repeat)


def _codes(values: Iterable[Hashable]) -> Codes:
    """Return a number per value, equal for equal values."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(value, len(seen)) for value in values], np.intp)


def _positions(known: Sequence[str], values: Iterable[str]) -> Codes:
    """Return the place of each value among those known."""
    places = {name: place for place, name in enumerate(known)}
    return np.array([places[value] for value in values], np.intp)

"""All scored dialogues of a sweep as columns, and the ways to count them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...datasets.tide.metrics import METRICS, Holds, scored
from ...datasets.tide.record import PROTOCOLS, DialogueRecord, Plan, PlannedSamples, Protocol
from ...datasets.tide.samples import KINDS, PAPERS_SHAPE, Kind, Shape
from ..differences import difference, rate
from ..table import Difference, Rate

Flags: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.intp]
Cell: TypeAlias = "tuple[str, Protocol, Kind]"
"""A model, a protocol and a sample set."""


@dataclass(frozen=True, slots=True)
class Group:
    """Which triplets: None takes all."""

    subtype: str | None = None
    verdict: str | None = None
    tier: str | None = None
    plan: str | None = None

    def holds(self, each: PlannedSamples | DialogueRecord) -> bool:
        """Return whether a planned kind of sample, or a record, is of this group."""
        return all(getattr(self, name) in (None, getattr(each, name)) for name in _GROUPED)


ALL: Final = Group()
_GROUPED: Final = tuple(field.name for field in fields(Group))


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the scored dialogues, by their rows, and how many of that kind were planned."""

    rows: Codes
    planned: int


class Dialogues:
    """The dialogues of a sweep beside its plan. All arrays have one entry per scored dialogue, in plan order.

    `records` are the scored ones, `faults` those that a fault of the user simulator left unscored. `cells` were
    planned, by one run or several. `cluster` is equal for dialogues over triplets of equal content.
    """

    def __init__(
        self, plan: Plan, models: Sequence[str], cells: frozenset[Cell], repeats: int, records: Iterable[DialogueRecord]
    ) -> None:
        self.plan = plan
        self.labels = list(models)
        self.cells = cells
        self.repeats = repeats
        ordered = sorted(records, key=_order(models))
        self.records = [record for record in ordered if scored(record)]
        self.faults = [record for record in ordered if not scored(record)]
        self.cluster = _codes(record.cluster for record in self.records)
        self.metrics = {metric.name: self.flags(metric.holds) for metric in METRICS}
        self._anchor = _codes((record.model, record.triplet, record.repeat) for record in self.records)
        self._columns: dict[str, NDArray[np.str_]] = {
            name: np.array([getattr(record, name) or "" for record in self.records], dtype=np.str_)
            for name in ("model", "protocol", "kind", *_GROUPED)
        }

    @property
    def models(self) -> list[str | None]:
        """The models, and None for all of them together when there are several."""
        return [*self.labels, None] if len(self.labels) > 1 else [*self.labels]

    @property
    def planned(self) -> int:
        """How many dialogues the sweep plans in all."""
        return sum(self._each(protocol, kind, ALL) for _, protocol, kind in self.cells)

    def flags(self, holds: Holds) -> Flags:
        """Return for every scored dialogue whether `holds`."""
        return np.fromiter((holds(record) for record in self.records), np.bool_, len(self.records))

    def has(self, protocol: Protocol, *kinds: Kind) -> bool:
        """Return whether all of these sample sets were planned under `protocol`."""
        return all(any((p, k) == (protocol, kind) for _, p, k in self.cells) for kind in kinds)

    def taken(self, protocol: Protocol, kinds: Sequence[Kind] = KINDS) -> list[Kind]:
        """Return those of the sample sets that were planned under `protocol`."""
        return [kind for kind in kinds if self.has(protocol, kind)]

    def of(self, part: Part) -> list[DialogueRecord]:
        """Return the records of a part."""
        return [self.records[row] for row in part.rows.tolist()]

    def groups(self, name: str, order: Sequence[str]) -> list[str]:
        """Return the values of a property of triplets that are planned, in the order given."""
        present = {getattr(planned, name) for planned in self.plan.samples}
        return [value for value in order if value in present]

    @property
    def shapes(self) -> list[Shape]:
        """The shapes of the triplets that are planned, the paper's first."""
        return sorted(
            {planned.shape for planned in self.plan.samples}, key=lambda shape: (shape != PAPERS_SHAPE, shape)
        )

    def part(self, model: str | None, protocol: Protocol, kind: Kind, group: Group = ALL) -> Part:
        """Return the dialogues of a cell (None: of all models), or of a group of its triplets."""
        mask = (self._columns["protocol"] == protocol) & (self._columns["kind"] == kind)
        wanted = {"model": model} | {name: getattr(group, name) for name in _GROUPED}
        for name, value in wanted.items():
            if value is not None:
                mask &= self._columns[name] == value
        cells = sum(model in (None, m) and (p, k) == (protocol, kind) for m, p, k in self.cells)
        return Part(np.flatnonzero(mask), cells * self._each(protocol, kind, group))

    def rate(self, part: Part, hits: Flags, *, apart: bool = False) -> Rate:
        """Return the share of `hits` in a part, with Wilson's interval at the effective size."""
        return rate(hits[part.rows], self.cluster[part.rows].tolist(), part.planned, apart=apart)

    def share(self, rows: Codes, hits: Flags) -> Rate:
        """Return the share of `hits` among dialogues that only what came picks out, so that no plan counts them."""
        return self.rate(Part(rows, len(rows)), hits, apart=True)

    def matched(self, *parts: Part) -> list[Codes]:
        """Return the rows of each part whose triplet (same model and repeat) is scored in all of them, in one order."""
        common = parts[0].rows
        anchors = self._anchor[common]
        for part in parts[1:]:
            anchors = np.intersect1d(anchors, self._anchor[part.rows])
        return [part.rows[_places(self._anchor[part.rows], anchors)] for part in parts]

    def difference(self, of: Part, minus: Part, of_hits: Flags, minus_hits: Flags) -> Difference:
        """Return one share minus another, over triplets scored in both parts, in percentage points."""
        a, b = self.matched(of, minus)
        return difference(of_hits[a], minus_hits[b], self.cluster[a].tolist(), min(of.planned, minus.planned))

    def _each(self, protocol: Protocol, kind: Kind, group: Group) -> int:
        return self.repeats * sum(
            planned.count
            for planned in self.plan.samples
            if (planned.protocol, planned.kind) == (protocol, kind) and group.holds(planned)
        )


def _places(column: Codes, wanted: Codes) -> Codes:
    """Return where each of `wanted` stands in `column`, whose values are distinct."""
    order = np.argsort(column, kind="stable")
    return order[np.searchsorted(column[order], wanted)]


def _order(models: Sequence[str]) -> Callable[[DialogueRecord], tuple[int, int, int, str, int]]:
    place = {name: position for position, name in enumerate(models)}
    return lambda r: (place[r.model], PROTOCOLS.index(r.protocol), KINDS.index(r.kind), r.sample, r.repeat)


def _codes(values: Iterable[Hashable]) -> Codes:
    """Return a number per value, equal for equal values."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(value, len(seen)) for value in values], np.intp)

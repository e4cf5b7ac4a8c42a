"""How a plan is cut: by its lanes, since what depends on one another stands in one lane and stays in one shard."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ...adapters.base import Json
from ..spec import ModelSpec
from ..unit import Context, Experiment, Lane, Prepares, Reference, Remembers, Unit


@dataclass(frozen=True, slots=True)
class Cut:
    """Shard number `index`, from 0, of `shards`."""

    index: int
    shards: int

    def holds(self, unit: Unit) -> bool:
        """Whether the lane that begins with `unit` is this shard's."""
        return place(unit, self.shards) == self.index


def place(unit: Unit, shards: int) -> int:
    """Return in which of `shards` the lane is that begins with `unit`.

    A hash of the unit's key decides: it needs no memory of the plan, and never moves a dialogue. Shards are equal to
    about the root of their number of lanes; a few long lanes may meet in one, which runs them side by side.
    """
    digest = hashlib.blake2b(unit.key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % shards


def dealt(whole: Experiment, models: Iterable[str], repeats: int, shards: int) -> list[Counter[str]]:
    """Return how many dialogues of each model every shard has; that of all may be none."""
    counts = [Counter[str]() for _ in range(shards)]
    for model in models:
        for lane in whole.lanes(model, repeats):
            if units := list(chain.from_iterable(lane)):
                counts[place(units[0], shards)][model] += len(units)
    return counts


class Part:
    """The lanes of an experiment that one shard holds; everything else is the experiment's own."""

    def __init__(self, whole: Experiment, cut: Cut) -> None:
        self.name = whole.name
        self.databases: Mapping[str, Path] = whole.databases
        self._whole = whole
        self._cut = cut
        if isinstance(whole, Remembers):
            self.record = whole.record

    @property
    def auxiliary(self) -> Sequence[ModelSpec]:
        """See Experiment."""
        return self._whole.auxiliary

    def identity(self) -> dict[str, Json]:
        """Return that of the whole: each request follows from it in whichever shard it is made."""
        return self._whole.identity()

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        """Yield this shard's lanes, in plan order."""
        for lane in self._whole.lanes(model, repeats):
            steps = iter(lane)
            first = next(steps, ())
            if first and self._cut.holds(first[0]):
                yield chain([first], steps)

    async def prepare(self) -> None:
        """See Prepares: what the whole has to do once, every shard does."""
        if isinstance(self._whole, Prepares):
            await self._whole.prepare()

    async def dialogue(self, unit: Unit, ctx: Context) -> str | None:
        """See Experiment."""
        return await self._whole.dialogue(unit, ctx)

    def references(self) -> Iterable[Reference]:
        """See Experiment."""
        return self._whole.references()

    def expected(self, unit: Unit) -> Iterable[str]:
        """See Experiment."""
        return self._whole.expected(unit)

    def ended(self, unit: Unit, records: Sequence[Mapping[str, Any]]) -> None:
        """See Experiment."""
        self._whole.ended(unit, records)

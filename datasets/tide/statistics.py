"""What a set of triplets holds (§3.4), and how its drifts change the structure of the gold (Table 12, Appendix G.1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from itertools import pairwise
from statistics import fmean
from typing import TypeVar

import msgspec

from .parsing import UnparsableSql
from .samples import SUBTYPES, TIERS, VERDICTS, Stage, Triplet, plan_in_words, samples
from .structure import Structure, Subtype, Tier, structure_of

_Name = TypeVar("_Name", bound=str)

MEASURES: tuple[str, ...] = tuple(field.name for field in fields(Structure))


class SubtypeChange(msgspec.Struct, frozen=True, kw_only=True):
    """What the `n` drifts of one subtype do to the gold query.

    `change` has the mean of each measure of `structure.Structure`, after the drift less before; `before` and `after`
    count the queries by tier. A drift of which a query does not parse is left out.
    """

    subtype: Subtype
    n: int
    change: dict[str, float]
    before: dict[Tier, int]
    after: dict[Tier, int]


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over a set of triplets.

    `plans` are the orders of chain and drifts, `tiers` and `verdicts` those of the anchors, `subtypes`, `fine_subtypes`
    and `changes` those of all drifts.
    """

    triplets: int
    samples: dict[str, int]
    distinct_content: int
    databases: dict[str, int]
    splits: dict[str, int]
    plans: dict[str, int]
    tiers: dict[str, int]
    verdicts: dict[str, int]
    subtypes: dict[str, int]
    fine_subtypes: dict[str, int]
    changes: tuple[SubtypeChange, ...]


def statistics(triplets: Sequence[Triplet]) -> Statistics:
    """Count a set of triplets."""
    drifts = [stage.drift for triplet in triplets for stage in triplet.drifts if stage.drift]
    return Statistics(
        triplets=len(triplets),
        samples=_counted(sample.kind for sample in samples(triplets)),
        distinct_content=len({triplet.content_key for triplet in triplets}),
        databases=_counted(triplet.database for triplet in triplets),
        splits=_counted(triplet.split for triplet in triplets),
        plans=_counted(plan_in_words(triplet.shape) for triplet in triplets),
        tiers=_in_order(TIERS, (triplet.stages[0].tier for triplet in triplets)),
        verdicts=_in_order(VERDICTS, (triplet.verdict for triplet in triplets if triplet.verdict)),
        subtypes=_in_order(SUBTYPES, (drift.subtype for drift in drifts)),
        fine_subtypes=_counted(drift.fine_subtype for drift in drifts if drift.fine_subtype),
        changes=tuple(changes(triplets)),
    )


def changes(triplets: Iterable[Triplet]) -> Iterator[SubtypeChange]:
    """Yield what drifts do to the structure of the gold (Table 12), for each subtype that there is."""
    pairs: defaultdict[Subtype, list[tuple[Stage, Stage]]] = defaultdict(list)
    for triplet in triplets:
        for before, after in pairwise(triplet.stages):
            if after.drift and _measurable(before) and _measurable(after):
                pairs[after.drift.subtype].append((before, after))
    for subtype in SUBTYPES:
        if found := pairs[subtype]:
            yield SubtypeChange(
                subtype=subtype,
                n=len(found),
                change=_mean_change(found),
                before=_in_order(TIERS, (before.tier for before, _ in found)),
                after=_in_order(TIERS, (after.tier for _, after in found)),
            )


def _measurable(stage: Stage) -> bool:
    try:
        structure_of(stage.sql)
    except UnparsableSql:
        return False
    return True


def _mean_change(pairs: Sequence[tuple[Stage, Stage]]) -> dict[str, float]:
    measured = [(astuple(structure_of(before.sql)), astuple(structure_of(after.sql))) for before, after in pairs]
    return {
        name: round(fmean(after[place] - before[place] for before, after in measured), 4)
        for place, name in enumerate(MEASURES)
    }


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _in_order(known: Sequence[_Name], names: Iterable[_Name]) -> dict[_Name, int]:
    counts = Counter(names)
    return {name: counts[name] for name in known}

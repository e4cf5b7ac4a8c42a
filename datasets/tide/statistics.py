"""What a set of triplets holds (§3.4), and how its drifts change the structure of the gold (Table 12, Appendix G.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from statistics import fmean

import msgspec

from .samples import SUBTYPES, TIERS, VERDICTS, Stage, Triplet, samples
from .structure import Structure, structure_of

MEASURES: tuple[str, ...] = tuple(field.name for field in fields(Structure))


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over a set of triplets.

    `tiers` and `verdicts` are those of the anchors, `subtypes` and `fine_subtypes` those of all drifts. By subtype,
    `tiers_before` and `tiers_after` count the tiers of the queries around a drift, and `change` has the mean change of
    each measure of Table 12 (after less before).
    """

    triplets: int
    samples: dict[str, int]
    distinct_content: int
    databases: dict[str, int]
    splits: dict[str, int]
    tiers: dict[str, int]
    verdicts: dict[str, int]
    subtypes: dict[str, int]
    fine_subtypes: dict[str, int]
    tiers_before: dict[str, dict[str, int]]
    tiers_after: dict[str, dict[str, int]]
    change: dict[str, dict[str, float]]


def statistics(triplets: Sequence[Triplet]) -> Statistics:
    """Count a set of triplets. Raises UnparsableSql when a gold query is not one query."""
    pairs = {subtype: _drifts(triplets, subtype) for subtype in SUBTYPES}
    return Statistics(
        triplets=len(triplets),
        samples=_counted(sample.kind for sample in samples(triplets)),
        distinct_content=len({triplet.content_key for triplet in triplets}),
        databases=_counted(triplet.database for triplet in triplets),
        splits=_counted(triplet.split for triplet in triplets),
        tiers=_in_order(TIERS, (triplet.stages[0].tier for triplet in triplets)),
        verdicts=_in_order(VERDICTS, (triplet.verdict for triplet in triplets if triplet.verdict)),
        subtypes={subtype: len(drifts) for subtype, drifts in pairs.items()},
        fine_subtypes=_counted(
            after.drift.fine_subtype
            for drifts in pairs.values()
            for _, after in drifts
            if after.drift and after.drift.fine_subtype
        ),
        tiers_before={subtype: _in_order(TIERS, (b.tier for b, _ in drifts)) for subtype, drifts in pairs.items()},
        tiers_after={subtype: _in_order(TIERS, (a.tier for _, a in drifts)) for subtype, drifts in pairs.items()},
        change={subtype: _change(drifts) for subtype, drifts in pairs.items() if drifts},
    )


def _drifts(triplets: Iterable[Triplet], subtype: str) -> list[tuple[Stage, Stage]]:
    """Return the stages before and after each drift of a subtype."""
    pairs = (pair for triplet in triplets for pair in zip(triplet.stages, triplet.stages[1:], strict=False))
    return [(before, after) for before, after in pairs if after.drift and after.drift.subtype == subtype]


def _change(drifts: Sequence[tuple[Stage, Stage]]) -> dict[str, float]:
    measured = [(astuple(structure_of(before.sql)), astuple(structure_of(after.sql))) for before, after in drifts]
    return {
        name: round(fmean(after[place] - before[place] for before, after in measured), 4)
        for place, name in enumerate(MEASURES)
    }


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _in_order(known: Sequence[str], names: Iterable[str]) -> dict[str, int]:
    counts = Counter(names)
    return {name: counts[name] for name in known}

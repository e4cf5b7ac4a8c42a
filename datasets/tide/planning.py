"""Which dialogues a run plans, and what its manifest says of the data."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

import msgspec

from .parsing import UnparsableSql
from .record import PlannedSamples, Protocol, SubtypeChange
from .samples import SUBTYPES, TIERS, Sample, Stage, Triplet
from .state import primes
from .structure import Structure, Subtype, Tier, structure_of


def takes(sample: Sample, protocol: Protocol) -> bool:
    """Return whether a sample is talked through under `protocol`: the p-protocol needs a layer to resolve."""
    return protocol == "f" or primes(sample)


def planned(samples: Iterable[Sample], protocols: Sequence[Protocol]) -> Iterator[PlannedSamples]:
    """Yield how many samples of each kind there are for each model, repeats apart."""
    counts: Counter[PlannedSamples] = Counter()
    for sample in samples:
        triplet = sample.triplet
        for protocol in protocols:
            if takes(sample, protocol):
                kind = PlannedSamples(
                    protocol=protocol,
                    kind=sample.kind,
                    tier=triplet.stages[0].tier,
                    verdict=triplet.verdict,
                    subtype=triplet.subtype,
                    count=0,
                )
                counts[kind] += 1
    for kind, count in counts.items():
        yield msgspec.structs.replace(kind, count=count)


def changes(triplets: Iterable[Triplet]) -> Iterator[SubtypeChange]:
    """Yield what the first drift of each triplet does to the structure of its gold, by subtype (Table 12)."""
    drifts: defaultdict[Subtype, list[tuple[Stage, Stage]]] = defaultdict(list)
    for triplet in triplets:
        if triplet.subtype:
            drifts[triplet.subtype].append((triplet.stages[0], triplet.stages[1]))
    for subtype in SUBTYPES:
        if subtype in drifts:
            yield _change(subtype, drifts[subtype])


def _change(subtype: Subtype, drifts: Iterable[tuple[Stage, Stage]]) -> SubtypeChange:
    measures: Counter[str] = Counter(dict.fromkeys(Structure.__slots__, 0))
    before, after = (Counter[Tier](dict.fromkeys(TIERS, 0)) for _ in range(2))
    n = 0
    for pre, post in drifts:
        try:
            old, new = asdict(structure_of(pre.sql)), asdict(structure_of(post.sql))
        except UnparsableSql:
            continue
        n += 1
        for name in measures:
            measures[name] += new[name] - old[name]
        before[pre.tier] += 1
        after[post.tier] += 1
    return SubtypeChange(subtype=subtype, n=n, measures=dict(measures), pre=dict(before), post=dict(after))

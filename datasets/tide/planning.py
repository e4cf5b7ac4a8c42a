"""Which dialogues a run plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from .record import PlannedSamples, Protocol
from .samples import Sample
from .state import primes


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
                    shape=triplet.shape,
                    count=0,
                )
                counts[kind] += 1
    for kind, count in counts.items():
        yield msgspec.structs.replace(kind, count=count)

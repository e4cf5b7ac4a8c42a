"""TIDE-Bench's observations: one per dialogue, with the metrics that the paper takes over its set and protocol.

DEA stands under the p-protocol too, where the paper has none: by it the protocols compare.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Final

from ...adapters.base import ConfigurationError
from ...datasets.tide.metrics import METRICS, Holds, all_right, right_at
from ...datasets.tide.record import DialogueRecord, Protocol
from ...datasets.tide.samples import Kind
from ..measures import Measures, Observation
from ..reading import NothingScored, RunFolder
from .accuracy import BESIDE
from .dialogues import ALL, Dialogues
from .report import marks_of
from .simulator import is_check
from .sweep import read_sweep

_BESIDE: Final = tuple(f"DEA-{name}" for name in BESIDE)


def measures(runs: Sequence[RunFolder]) -> Measures:
    """Return the runs' scored dialogues, read as one sweep. Raises NothingScored when there is none yet."""
    if any(is_check(run) for run in runs):
        raise ConfigurationError("checks of the user simulator are not compared; `turntide report` shows them apart.")
    sweep = read_sweep(runs)
    dialogues = sweep.dialogues
    if not dialogues.records:
        raise NothingScored("no dialogue is scored", runs)
    planned = Counter[tuple[str, str, str]]()
    for model, protocol, kind in sorted(dialogues.cells, key=lambda cell: (dialogues.labels.index(cell[0]), cell[1:])):
        for name, _ in _metrics(protocol, kind):
            planned[model, f"{protocol}/{kind}", name] = dialogues.part(model, protocol, kind, ALL).planned
    names = tuple(metric.name for metric in METRICS) + _BESIDE
    marks = dict(marks_of(runs, sweep))
    found = Measures(names, list(_observations(dialogues)), planned, marks, shared=_shared(dialogues))
    for run in runs:
        for line in run.lines():
            if line["k"] == "answer":
                found.pay(line["u"], line)
    return found


def _metrics(protocol: Protocol, kind: Kind) -> Iterator[tuple[str, Holds]]:
    """Yield the metrics that are taken over a set under a protocol (§4.3), and DEA under either."""
    for metric in METRICS:
        if kind in metric.kinds and (metric.protocol == protocol or metric.name == "DEA"):
            yield metric.name, metric.holds
    for name in BESIDE:
        yield f"DEA-{name}", lambda record, name=name: all_right(record, name)


def _shared(dialogues: Dialogues) -> dict[tuple[str, str], int]:
    """Count the triplets, times repeats, that two sets of a protocol have in common, and a set under both protocols.

    Samples of a triplet agree in tier, verdict, subtype and shape; a triplet that lacks a set differs in one of them.
    """
    parts: defaultdict[tuple[Protocol, Kind], Counter[object]] = defaultdict(Counter)
    for each in dialogues.plan.samples:
        parts[each.protocol, each.kind][each.tier, each.verdict, each.subtype, each.shape] += each.count
    return {
        ("/".join(one), "/".join(other)): dialogues.repeats * (parts[one] & parts[other]).total()
        for one, other in permutations(parts, 2)
        if one[0] == other[0] or one[1] == other[1]
    }


def _observations(dialogues: Dialogues) -> Iterator[Observation]:
    for record in dialogues.records:
        repeat = f"#{record.repeat}" if record.repeat else ""
        yield Observation(
            unit=f"{record.model}/{record.protocol}/{record.sample}/{record.repeat}",
            model=record.model,
            part=f"{record.protocol}/{record.kind}",
            item=f"{record.sample}{repeat}",
            match=f"{record.triplet}{repeat}",
            cluster=record.cluster,
            outcome=_outcome(record),
            metrics={name: holds(record) for name, holds in _metrics(record.protocol, record.kind)},
        )


def _outcome(record: DialogueRecord) -> str:
    """Say how it ended, or which of its queries were right."""
    if record.ending != "complete":
        return record.ending
    return ", ".join("right" if right_at(record, stage) else "wrong" for stage in range(record.golds))

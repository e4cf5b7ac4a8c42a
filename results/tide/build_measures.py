"""A construction's observations: one per anchor and generator, with what it passed. Generators compare by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ...datasets.tide.construction.record import BuildRecord, stages_of
from ..measures import Measures, Observation
from ..reading import NothingScored, RunFolder
from .construction import marks_of, read_build

METRICS: Final = ("triplet", "chain", "drift checks")
"""Whether an anchor became a triplet, whether its chain passed, and whether its drifts passed the eight checks."""

_PART: Final = "all"


def measures(runs: Sequence[RunFolder]) -> Measures:
    """Return what became of every anchor that is through, read as one construction.

    Raises NothingScored when none is yet.
    """
    build = read_build(runs)
    if not build.records:
        raise NothingScored("no anchor is through", runs)
    each = build.planned // len(build.generators)
    planned = Counter({(label, _PART, metric): each for label in build.generators for metric in METRICS})
    found = Measures(METRICS, list(map(_observation, build.records)), planned, dict(marks_of(build)))
    for run in runs:
        for line in run.lines():
            if line["k"] == "answer":
                found.pay(line["u"], line)
    return found


def _observation(record: BuildRecord) -> Observation:
    ended = record.dropped
    stages = [record.stages.get(name) for name in stages_of(record.design) if name.startswith("drift")]
    chain = record.stages.get("chain")
    checked = all(stage is not None and stage.checked for stage in stages)
    passed = (record.complete, chain is not None and chain.kept, checked)
    return Observation(
        unit=f"{record.model}/{record.anchor}/{record.repeat}",
        model=record.model,
        part=_PART,
        item=record.anchor + (f"#{record.repeat}" if record.repeat else ""),
        cluster=record.anchor,
        outcome=f"{ended[0]}: {ended[1].signal}" if ended else "triplet",
        metrics=dict(zip(METRICS, passed, strict=True)),
    )

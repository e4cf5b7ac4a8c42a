"""The tables of a construction, from its records: each stage's numbers add up to those of the stage before."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ...datasets.tide.construction.anchors import REASONS
from ...datasets.tide.construction.assembly import triplet_of
from ...datasets.tide.construction.experiment import BuildPlan
from ...datasets.tide.construction.record import (
    CHAIN_CRITERIA,
    CONDITIONS,
    DRIFT_CRITERIA,
    BuildRecord,
    StageName,
    Vote,
    stages_of,
)
from ...datasets.tide.design import PAPERS, Design
from ...datasets.tide.samples import SUBTYPES, TIERS, VERDICTS
from ..statistics import cohen_kappa, proportion, raw_agreement
from ..table import Cell, Rate, Table

PUBLISHED: Final = {"chain": "695/830", "drift checks": "554/695", "drift judges": "514/554"}
"""Kept and entered, as §3.2 has them."""

_Ended: TypeAlias = tuple[StageName, str]

_TESTED: Final = {
    "A": ("original", "original", "no"),
    "B": ("rewritten", "ambiguous", "yes"),
    "C": ("rewritten", "ambiguous", "no"),
}


def tables(plan: BuildPlan, records: Sequence[BuildRecord], planned: int) -> Iterator[Table]:
    """Yield every table."""
    yield selection(plan)
    yield funnel(plan, records, planned)
    yield dropped(records)
    yield signals(records)
    if plan.judges or plan.drift_judges:
        yield agreement(records)
    if plan.tester:
        yield reconstructability(records)
    if any(record.complete for record in records):
        yield composition(records)


def selection(plan: BuildPlan) -> Table:
    """How the anchors came (§3.2, anchor selection)."""
    found = plan.selection
    steps: list[tuple[str, int, int]] = [
        *((f"dropped: {reason}", count, found["candidates"]) for reason, count in _ordered(found["dropped"], REASONS)),
        ("kept", found["kept"], found["candidates"]),
        ("drawn", found["drawn"], found["kept"]),
        ("in this run", plan.anchors, found["drawn"]),
        *((f"tree yields: {name}", count, found["executable"]) for name, count in _ordered(found["yields"], SUBTYPES)),
    ]
    rows: list[list[Cell]] = [["candidates", found["candidates"], None]]
    rows.extend([name, count, _percent(count, whole)] for name, count, whole in steps)
    return Table(
        key="selection",
        title="From questions to anchors",
        source="TIDE-Bench, §3.2",
        columns=("step", "questions", "%"),
        rows=rows,
        note=f"Tree yields: of the {found['executable']:,} queries that run and return something, those with an edit "
        "of the subtype that passes the eight checks.",
    )


_Kept = Callable[[BuildRecord], bool]


def _reached(name: StageName) -> _Kept:
    return lambda record: name in record.stages


def _kept(name: StageName) -> _Kept:
    return lambda record: name in record.stages and record.stages[name].kept


def _checked(name: StageName) -> _Kept:
    return lambda record: name in record.stages and record.stages[name].checked


def _steps(design: Design) -> Iterator[tuple[str, StageName, _Kept, _Kept]]:
    """Yield every step of the funnel: its title, its stage, and what enters and leaves it."""
    for name in stages_of(design):
        match name:
            case "chain":
                yield "chain rules", name, _reached(name), _checked(name)
                yield "chain judges", name, _checked(name), _kept(name)
                yield "chain", name, _reached(name), _kept(name)
            case "evidence":
                yield name, name, _reached(name), _kept(name)
            case _:
                yield f"{name} checks", name, _reached(name), _checked(name)
                yield f"{name} judges", name, _checked(name), _kept(name)


def funnel(plan: BuildPlan, records: Sequence[BuildRecord], planned: int) -> Table:
    """How many anchors entered and left each stage, and what served it."""
    rows: list[list[Cell]] = []
    for title, stage, enters, leaves in _steps(plan.design):
        entered = [record for record in records if enters(record)]
        kept = [record for record in entered if leaves(record)]
        first = sum(len(record.stages[stage].attempts) == 1 for record in kept)
        served = Counter(record.stages[stage].source for record in entered)
        alone = len(served) == 1
        by = ", ".join(source if alone else f"{source} {count:,}" for source, count in sorted(served.items()))
        published = PUBLISHED.get(title) if plan.design == PAPERS else None
        rows.append([title, by, len(entered), len(kept), _rate(len(kept), len(entered)), first, published])
    whole = sum(record.complete for record in records)
    published = "514/830" if plan.design == PAPERS else None
    rows.append(["triplets", "", len(records), whole, _rate(whole, len(records)), None, published])
    through = "" if len(records) == planned else f" {planned - len(records):,} anchors are not through yet."
    return Table(
        key="funnel",
        title="The funnel",
        source="TIDE-Bench, §3.2",
        columns=("stage", "served by", "entered", "kept", "kept (%)", "at the first attempt", "published"),
        labels=2,
        rows=rows,
        note=f"By the last of at most {plan.attempts} attempts; the paper had one. "
        f"Chain: its rules and judges.{through}",
    )


def dropped(records: Sequence[BuildRecord]) -> Table:
    """Why anchors were dropped: the signal of the last attempt at the stage where they ended."""
    ended = [found for record in records if (found := record.dropped)]
    counts = Counter[_Ended]((stage, attempt.signal) for stage, attempt in ended)
    rows: list[list[Cell]] = [[stage, signal, count] for (stage, signal), count in _by_stage(counts, records)]
    rows.append(["all", "", len(ended)])
    return Table(
        key="dropped",
        title="Why anchors were dropped",
        source="TIDE-Bench, Tables 6 and 7",
        columns=("stage", "signal", "anchors"),
        labels=2,
        rows=rows,
        note="Dropped anchors and triplets add up to the anchors that are through.",
    )


def signals(records: Sequence[BuildRecord]) -> Table:
    """What all attempts came to, those that were tried again included."""
    counts = Counter[_Ended](
        (name, attempt.signal or "passed")
        for record in records
        for name, stage in record.stages.items()
        for attempt in stage.attempts
    )
    totals = Counter[str]()
    for (name, _), count in counts.items():
        totals[name] += count
    return Table(
        key="attempts",
        title="What attempts came to",
        columns=("stage", "signal", "attempts", "%"),
        labels=2,
        rows=[
            [name, signal, count, _percent(count, totals[name])] for (name, signal), count in _by_stage(counts, records)
        ],
    )


def agreement(records: Sequence[BuildRecord]) -> Table:
    """How far the two judges agree, over every candidate that both judged (§3.2: 94.7 % and 96.6 %)."""
    rows: list[list[Cell]] = []
    kinds: list[tuple[str, tuple[str, ...], str]] = [
        ("chain", CHAIN_CRITERIA, "94.7"),
        ("drift", DRIFT_CRITERIA, "96.6"),
    ]
    for stage, criteria, published in kinds:
        judged = list(_pairs(records, stage))
        if judged:
            accepts = [(cluster, a.accepts, b.accepts) for cluster, a, b in judged]
            rows.append([stage, "all criteria", *_agreed(accepts), published])
            rows += [
                [stage, name, *_agreed([(c, a.passed[name], b.passed[name]) for c, a, b in judged]), None]
                for name in criteria
            ]
    return Table(
        key="agreement",
        title="Agreement between the judges",
        source="TIDE-Bench, §3.2",
        columns=("stage", "criterion", "candidates", "agree (%)", "κ", "published (%)"),
        labels=2,
        rows=rows,
        note="κ: Cohen's; none where both judges say the same of every candidate.",
    )


def reconstructability(records: Sequence[BuildRecord]) -> Table:
    """Whether rewritten evidence still serves, and gives nothing away (Table 8)."""
    tested = [record.rebuilt for record in records if record.rebuilt]
    hits = {name: sum(found[name] for found in tested) for name in CONDITIONS}
    rows: list[list[Cell]] = []
    for name in CONDITIONS:
        delta = round(100 * (hits[name] - hits["A"]) / len(tested), 4) if tested and name != "A" else None
        rows.append([name, *_TESTED[name], _rate(hits[name], len(tested)), delta])
    return Table(
        key="reconstructability",
        title="Reconstructability of the rewritten evidence",
        source="TIDE-Bench, Table 8",
        columns=("condition", "evidence", "question", "dialogue", "Acc. (%)", "Δ (points)"),
        labels=4,
        rows=rows,
        note=f"{len(tested):,} anchors. Published: 51.2, 50.4, 31.2 (n = 695).",
    )


def composition(records: Sequence[BuildRecord]) -> Table:
    """How the triplets fall on subtypes, verdicts, tiers and splits (§3.4)."""
    triplets = {record.anchor: triplet_of(record) for record in reversed(records) if record.complete}.values()
    found: dict[str, Counter[str]] = {
        "subtype": Counter(triplet.subtype for triplet in triplets if triplet.subtype),
        "verdict": Counter(triplet.verdict for triplet in triplets if triplet.verdict),
        "tier": Counter(triplet.stages[0].tier for triplet in triplets),
        "database": Counter(triplet.database for triplet in triplets),
        "split": Counter(triplet.split for triplet in triplets),
    }
    order = {"subtype": SUBTYPES, "verdict": VERDICTS, "tier": TIERS}
    rows: list[list[Cell]] = [
        [by, value, counts[value], _percent(counts[value], len(triplets))]
        for by, counts in found.items()
        for value in order.get(by, sorted(counts))
    ]
    return Table(
        key="composition",
        title="The triplets",
        source="TIDE-Bench, §3.4",
        columns=("by", "value", "triplets", "%"),
        labels=2,
        rows=rows,
        note=f"{len(triplets):,} triplets, one for each anchor.",
    )


def _pairs(records: Sequence[BuildRecord], kind: str) -> Iterator[tuple[str, Vote, Vote]]:
    """Yield the two votes on each candidate that has two, with the anchor: on each layer of a chain, or each drift."""
    for record in records:
        for name, stage in record.stages.items():
            for attempt in stage.attempts if name.partition(" ")[0] == kind else ():
                for one, other in zip(attempt.votes[::2], attempt.votes[1::2], strict=True):
                    if one.passed and other.passed:
                        yield record.anchor, one, other


def _agreed(votes: Sequence[tuple[str, bool, bool]]) -> list[Cell]:
    clusters = [cluster for cluster, _, _ in votes]
    interval = raw_agreement([(2 - a - b, a + b) for _, a, b in votes], clusters).interval
    agreed = sum(a == b for _, a, b in votes)
    rate = Rate(hits=agreed, scored=len(votes), planned=len(votes), low=interval.low, high=interval.high)
    kappa = cohen_kappa([a for _, a, _ in votes], [b for _, _, b in votes], clusters).value
    return [len(votes), rate, None if math.isnan(kappa) else round(kappa, 4)]


def _by_stage(counts: Counter[_Ended], records: Sequence[BuildRecord]) -> list[tuple[_Ended, int]]:
    order = stages_of(records[0].design) if records else ()
    return sorted(counts.items(), key=lambda item: (order.index(item[0][0]), -item[1], item[0][1]))


def _ordered(counts: Mapping[str, int], names: Sequence[str]) -> list[tuple[str, int]]:
    return [(name, counts[name]) for name in names]


def _rate(hits: int, whole: int) -> Rate:
    interval = proportion(hits, whole).interval
    return Rate(hits=hits, scored=whole, planned=whole, low=interval.low, high=interval.high)


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 4) if whole else None

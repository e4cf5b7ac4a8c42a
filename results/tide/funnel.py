"""The tables of a construction, from its records: each stage's numbers add up to those of the stage before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...datasets.tide.construction.anchors import REASONS
from ...datasets.tide.construction.assembly import triplet_of
from ...datasets.tide.construction.experiment import BuildPlan
from ...datasets.tide.construction.record import CONDITIONS, BuildRecord, Condition, StageName, stages_of
from ...datasets.tide.design import PAPERS
from ...datasets.tide.samples import SUBTYPES, TIERS, VERDICTS
from ..differences import rate
from ..table import Cell, Rate, Table
from .judges import agreement

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
        *(
            (f"tree yields {plan.design.drifts} drifts: {name} first", count, found["executable"])
            for name, count in _ordered(found.get("sequences", {}), SUBTYPES)
        ),
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
        "of the subtype that passes the eight checks and has a fixed result, whatever the design. Several drifts: "
        "those with such an edit first that others follow, as many as the design has.",
    )


_Passes: TypeAlias = Callable[[BuildRecord], bool]


@dataclass(frozen=True, slots=True)
class _Step:
    """One row of the funnel: its stage, and what enters and leaves it.

    `decides`: somebody or something may reject there, so that a share of what is kept says anything. `published` is
    what the paper has there, if what decides is what decided in the paper.
    """

    title: str
    stage: StageName
    enters: _Passes
    leaves: _Passes
    decides: bool
    published: str | None = None


def _reached(name: StageName) -> _Passes:
    return lambda record: name in record.stages


def _kept(name: StageName) -> _Passes:
    return lambda record: name in record.stages and record.stages[name].kept


def _checked(name: StageName) -> _Passes:
    return lambda record: name in record.stages and record.stages[name].checked


def _steps(plan: BuildPlan) -> Iterator[_Step]:
    """Yield every step of the funnel but the last line."""
    chained, judged, papers = plan.chained, bool(plan.judges) and plan.chained, plan.design == PAPERS
    for name in stages_of(plan.design):
        reached, checked, kept = _reached(name), _checked(name), _kept(name)
        match name:
            case "chain":
                yield _Step("chain rules", name, reached, checked, chained)
                yield _Step("chain judges", name, checked, kept, judged)
                yield _Step("chain", name, reached, kept, chained, "695/830" if judged and papers else None)
            case "evidence":
                yield _Step(name, name, reached, kept, chained)
            case _:
                asked = bool(plan.drift_judges)
                yield _Step(f"{name} checks", name, reached, checked, True, "554/695" if papers else None)
                yield _Step(f"{name} judges", name, checked, kept, asked, "514/554" if asked and papers else None)


def funnel(plan: BuildPlan, records: Sequence[BuildRecord], planned: int) -> Table:
    """How many anchors entered and left each stage, and what served it."""
    rows = [_row(step, records) for step in _steps(plan)]
    judged = plan.chained and plan.judges and plan.drift_judges
    published = "514/830" if plan.design == PAPERS and judged else None
    whole = _rate(records, lambda record: record.complete)
    rows.append(["triplets", "", len(records), _anchors(records), whole.hits, whole, None, published])
    through = "" if len(records) == planned else f" {planned - len(records):,} anchors are not through yet."
    return Table(
        key="funnel",
        title="The funnel",
        source="TIDE-Bench, §3.2",
        columns=("step", "served by", "entered", "anchors", "kept", "kept (%)", "at the first attempt", "published"),
        labels=2,
        rows=rows,
        note=f"By the last of at most {plan.attempts} attempts; the paper had one. Chain: its rules and judges. "
        "-: nothing decided there, or not what decided in the paper. "
        f"Intervals take what generators and repeats make of one anchor as one cluster.{through}",
    )


def _row(step: _Step, records: Sequence[BuildRecord]) -> list[Cell]:
    entered = [record for record in records if step.enters(record)]
    kept = [record for record in entered if step.leaves(record)]
    if not step.decides:
        by = "not judged" if step.title.endswith("judges") else "none"
        return [step.title, by, len(entered), _anchors(entered), len(kept), None, None, None]
    first = sum(len(record.stages[step.stage].attempts) == 1 for record in kept)
    served = Counter(record.stages[step.stage].source for record in entered)
    alone = len(served) == 1
    by = ", ".join(source if alone else f"{source} {count:,}" for source, count in sorted(served.items()))
    share = _rate(entered, step.leaves)
    return [step.title, by, len(entered), _anchors(entered), len(kept), share, first, step.published]


def _anchors(records: Sequence[BuildRecord]) -> int:
    return len({record.anchor for record in records})


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


def reconstructability(records: Sequence[BuildRecord]) -> Table:
    """Whether rewritten evidence still serves, and gives nothing away (Table 8)."""
    tested = [record for record in records if record.rebuilt]
    rates = {name: _rate(tested, _rebuilds(name)) for name in CONDITIONS}
    rows: list[list[Cell]] = []
    for name, found in rates.items():
        lost = found.hits - rates["A"].hits
        delta = round(100 * lost / len(tested), 4) if tested and name != "A" else None
        rows.append([name, *_TESTED[name], found, delta])
    return Table(
        key="reconstructability",
        title="Reconstructability of the rewritten evidence",
        source="TIDE-Bench, Table 8",
        columns=("condition", "evidence", "question", "dialogue", "Acc. (%)", "Δ (points)"),
        labels=4,
        rows=rows,
        note=f"{_anchors(tested):,} anchors. Published: 51.2, 50.4, 31.2 (n = 695).",
    )


def _rebuilds(name: Condition) -> _Passes:
    return lambda record: record.rebuilt[name]


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


def _by_stage(counts: Counter[_Ended], records: Sequence[BuildRecord]) -> list[tuple[_Ended, int]]:
    order = stages_of(records[0].design) if records else ()
    return sorted(counts.items(), key=lambda item: (order.index(item[0][0]), -item[1], item[0][1]))


def _ordered(counts: Mapping[str, int], names: Sequence[str]) -> list[tuple[str, int]]:
    return [(name, counts[name]) for name in names if name in counts]


def _rate(records: Sequence[BuildRecord], passes: _Passes) -> Rate:
    """Return the share of `records` that pass, those of one anchor as one cluster."""
    return rate([passes(record) for record in records], [record.anchor for record in records], len(records))


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 4) if whole else None

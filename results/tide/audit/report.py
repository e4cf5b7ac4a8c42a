"""The report of an audit: a function of its file's answers, whoever gave them first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from ....adapters.base import ConfigurationError, Json
from ...published import read_published
from ...report import Report
from ...table import Cell, Table
from . import acceptance, routing
from .panel import Panel
from .store import Plan, Store
from .tasks import Task

PUBLISHED: Final = Path(__file__).with_name("published.toml")
_EXCERPT: Final = 20
_THINGS: Final = {"samples": "triplets", "decisions": "router decisions"}


def audit_report(store: Store, without: Sequence[str] = ()) -> Report:
    """Return the report, leaving out the annotators in `without`. Raises ConfigurationError when nobody is left."""
    names = [annotator.name for annotator in store.annotators()]
    if unknown := [name for name in without if name not in names]:
        raise ConfigurationError(f"{unknown[0]!r} does not annotate here; there are {', '.join(names)}")
    names = [name for name in names if name not in without]
    if not names:
        raise ConfigurationError("no annotator is left to report on")
    plan, tasks = store.plan, store.tasks
    panel = Panel(names, [t for t in tasks if not t.calibration], {name: store.answers(name) for name in names})
    found = acceptance.tables(panel) if plan.subject == "samples" else routing.tables(panel, plan.router)
    comments = {name: store.comments(name) for name in names}
    people = f"{len(names)} annotator{'s' * (len(names) != 1)}"
    return Report(
        title=f"TIDE-Bench audit: {plan.count:,} {_THINGS[plan.subject]}, {people}",
        marks=dict(_marks(plan, panel)),
        facts=_facts(plan, names, without),
        warnings=[],
        tables=[*found, coverage(panel, tasks), *_remarks(panel, comments)],
        published=partial(read_published, PUBLISHED),
    )


def coverage(panel: Panel, tasks: Sequence[Task]) -> Table:
    """How much each annotator has finished, and how many tasks fewer than all have."""
    calibration = [task for task in tasks if task.calibration]
    parts = [*(part for _, part in panel.splits), calibration]
    everyone = len(panel.annotators)
    rows: list[list[Cell]] = [
        [name, *(sum(panel.is_done(name, task) for task in part) for part in parts)] for name in panel.annotators
    ]
    for fewer in range(everyone + 1):
        counts = [sum(panel.finishers(task) == fewer for task in part) for part in parts]
        if any(counts):
            who = f"all {everyone}" if fewer == everyone else f"only {fewer} of {everyone}" if fewer else "nobody"
            rows.append([f"finished by {who}", *counts])
    rows.append(["planned", *map(len, parts)])
    return Table(
        key="coverage",
        title="Finished checklists",
        columns=("annotator", *(name for name, _ in panel.splits), "calibration"),
        rows=rows,
        note="What fewer than all have finished is in no acceptance rate; an item counts where all have answered it. "
        "Calibration counts for nothing.",
    )


def _remarks(panel: Panel, comments: Mapping[str, Mapping[str, str]]) -> Iterator[Table]:
    rows: list[list[Cell]] = [
        [task.id, name, text]
        for task in panel.tasks
        for name in panel.annotators
        if (text := comments[name].get(task.id))
    ]
    if rows:
        columns = ("id", "annotator", "comment")
        yield Table(key="comments", title="Comments", columns=columns, rows=rows, labels=2, excerpt=_EXCERPT)


def _marks(plan: Plan, panel: Panel) -> Iterator[tuple[str, str]]:
    if plan.simulated:
        yield "SIMULATED", "simulated models had a part in the dialogues"
    if plan.synthetic:
        yield "SYNTHETIC", "the triplets are ours, not the authors'"
    done = len(panel.finished(panel.tasks))
    if done < len(panel.tasks):
        yield "INCOMPLETE", f"{done:,} of {len(panel.tasks):,} {plan.subject} are finished by every annotator"


def _facts(plan: Plan, names: Sequence[str], without: Sequence[str]) -> dict[str, Json]:
    draw: dict[str, Json] = {"count": plan.count, "calibration": plan.calibration, "seed": plan.seed}
    facts: dict[str, Json] = {"triplets": {"set": plan.source, "sha256": plan.sha256}, "draw": draw}
    if plan.runs:
        facts |= {"runs": list(plan.runs), "router": plan.router}
    facts["annotators"] = list(names)
    if without:
        facts["left out"] = [*sorted(set(without))]
    return facts

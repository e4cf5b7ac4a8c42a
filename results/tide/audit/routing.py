"""The tables of a trace audit: how far annotators agree, and how often the router agrees with them (Appendix E)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ....datasets.tide.simulator.probes import SPLITS, split_of
from ...statistics import clustered_proportion, raw_agreement
from ...table import Cell, Number, Rate, Table
from ..interaction import percent
from .checklist import ROUTING
from .panel import KAPPA, Panel, clusters, explained, kappa, majority, share
from .tasks import Task

NONE = "no majority"


def tables(panel: Panel, router: str) -> Iterator[Table]:
    """Yield every table; `router` made the decisions."""
    yield explained(agreement(panel))
    yield accuracy(panel, router)
    yield confusion(panel)


def agreement(panel: Panel) -> Table:
    """Agreement on what clarifications are about, by sample set."""
    rows: list[list[Cell]] = []
    for name, tasks in panel.splits:
        done = panel.finished(tasks)
        votes = [panel.votes(task, ROUTING) for task in done]
        rows.append([name, len(done), _agreeing(votes, done), kappa(votes, done)])
    return Table(
        key="trace_agreement",
        title="Agreement on router decisions",
        source="TIDE-Bench, Appendix E",
        columns=("split", "decisions", "agree (%)", KAPPA),
        rows=rows,
        note="Labels: each layer, another detail (Loc), nothing that a user can answer (Una). Agree: the share of "
        "pairs of annotators that do. Intervals take the decisions about a triplet for one cluster.",
    )


def accuracy(panel: Panel, router: str) -> Table:
    """How often the router says what most annotators say, by what they say (the shape of Table 11)."""
    done = panel.finished(panel.tasks)
    judged = {task.id: majority(panel.votes(task, ROUTING)) for task in done}
    settled = [task for task in done if judged[task.id]]
    parts = [[task for task in settled if split_of(judged[task.id]) == split] for split in SPLITS]
    return Table(
        key="trace_accuracy",
        title="Router decisions in dialogues that most annotators share (%)",
        source="TIDE-Bench, Table 11, on dialogues",
        columns=("router", *SPLITS, "all"),
        rows=[[router, *(_shared(part, judged) for part in (*parts, settled))]],
        note=f"{', '.join(f'{split} {len(part)}' for split, part in zip(SPLITS, parts, strict=True))}, by the label of "
        f"more than half of the annotators; without one {len(done) - len(settled)}. Amb: the very layer is named.",
    )


def confusion(panel: Panel) -> Table:
    """What the router took for what."""
    done = panel.finished(panel.tasks)
    counts = Counter((majority(panel.votes(task, ROUTING)) or NONE, task.router) for task in done)
    order = [choice.value for item in panel.items for choice in item.choices]
    labels = list(dict.fromkeys([*order, *(said for _, said in sorted(counts))]))
    return Table(
        key="trace_confusion",
        title="What the router took for what",
        columns=("annotators", *labels),
        rows=[[label, *(counts[label, said] for said in labels)] for label in (*order, NONE)],
        note="Rows: the label of most annotators. Columns: what the router said.",
    )


def _agreeing(votes: Sequence[Sequence[str]], tasks: Sequence[Task]) -> Number | None:
    if not votes or len(votes[0]) < 2:
        return None
    labels = sorted({vote for row in votes for vote in row})
    return percent(raw_agreement([[row.count(label) for label in labels] for row in votes], clusters(tasks)))


def _shared(tasks: Sequence[Task], judged: dict[str, str]) -> Rate:
    right = [task.router == judged[task.id] for task in tasks]
    return share(clustered_proportion, right, tasks, len(tasks))

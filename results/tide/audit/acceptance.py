"""The tables of an audit of samples: acceptance (Table 1), each criterion (Table 9), reasons for rejection (C.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...statistics import majority_acceptance, sample_verdicts, strict_acceptance
from ...table import Cell, Number, Table, counted
from .checklist import YES, Item
from .panel import KAPPA, Panel, explained, kappa, majority, share
from .tasks import Task

NO_ITEM = "no single item"


def tables(panel: Panel) -> Iterator[Table]:
    """Yield every table."""
    yield explained(acceptance(panel))
    yield explained(criteria(panel))
    yield explained(criteria_by_split(panel))
    yield reasons(panel)


def acceptance(panel: Panel) -> Table:
    """Majority and strict acceptance, and agreement on the verdicts (Table 1, Appendix C.3)."""
    rows: list[list[Cell]] = []
    for name, tasks in panel.splits:
        done = panel.finished(tasks)
        found = verdicts(panel, done)
        shares = (share(each, found, done, len(tasks)) for each in (majority_acceptance, strict_acceptance))
        rows.append([name, *shares, kappa(found, done)])
    return counted(
        Table(
            key="acceptance",
            title="Human validation (%)",
            source="TIDE-Bench, Table 1",
            columns=("split", "Majority Acc.", "Strict Acc.", KAPPA),
            rows=rows,
            note="An annotator accepts a sample by a yes to every item that applies. Majority: more than half accept "
            "it; strict: all do. κ is over these verdicts. Intervals take the samples of a triplet for one cluster.",
        )
    )


def criteria(panel: Panel) -> Table:
    """How many samples pass each criterion by majority, and agreement on it (Table 9)."""
    return counted(
        Table(
            key="criteria",
            title="Each criterion (%)",
            source="TIDE-Bench, Table 9",
            columns=("item", "Pass Rate", KAPPA),
            rows=[[item.name, *_criterion(panel, panel.tasks, item)] for item in panel.items],
            note="Passed: more than half of the annotators say yes. Over the samples that the item applies to.",
        )
    )


def criteria_by_split(panel: Panel) -> Table:
    """The same for each sample set."""
    rows: list[list[Cell]] = [
        [name, item.name, *_criterion(panel, tasks, item)]
        for name, tasks in panel.splits[:-1]
        for item in panel.items
        if panel.asked(tasks, item.key)[1]
    ]
    columns = ("split", "item", "Pass Rate", KAPPA)
    return counted(
        Table(key="criteria_by_split", title="Each criterion by set (%)", columns=columns, rows=rows, labels=2)
    )


def reasons(panel: Panel) -> Table:
    """Which items fail in the samples that no majority accepts (Appendix C.5)."""
    rows = [row for name, tasks in panel.splits for row in _reasons(panel, name, panel.finished(tasks))]
    return Table(
        key="reasons",
        title="Why samples are rejected",
        source="TIDE-Bench, Appendix C.5",
        columns=("split", "reason", "samples", "% of rejected"),
        labels=2,
        rows=rows,
        note="Rejected under majority acceptance; an item is a reason where no majority says yes to it, and a sample "
        f"may have several. {NO_ITEM.capitalize()}: each item has its majority, but no majority says yes to all.",
    )


def verdicts(panel: Panel, tasks: Sequence[Task]) -> list[list[bool]]:
    """Return who accepts each of the tasks, which everyone has finished."""
    return sample_verdicts(
        [
            [[panel.answers[name][task.id][item.key] == YES for item in task.items] for name in panel.annotators]
            for task in tasks
        ]
    )


def _criterion(panel: Panel, tasks: Sequence[Task], item: Item) -> list[Cell]:
    answered, having = panel.asked(tasks, item.key)
    passed = [[vote == YES for vote in panel.votes(task, item.key)] for task in answered]
    return [share(majority_acceptance, passed, answered, having), kappa(passed, answered)]


def _reasons(panel: Panel, name: str, done: Sequence[Task]) -> Iterator[list[Cell]]:
    judged = zip(done, verdicts(panel, done), strict=True)
    rejected = [task for task, accepts in judged if sum(accepts) * 2 <= len(accepts)]
    failing = [[item.key for item in task.items if majority(panel.votes(task, item.key)) != YES] for task in rejected]
    yield [name, "all rejected", len(rejected), None]
    counts = [(item.name, sum(item.key in keys for keys in failing)) for item in panel.items]
    counts.append((NO_ITEM, sum(not keys for keys in failing)))
    for reason, count in sorted(counts, key=lambda each: -each[1]):
        if count:
            yield [name, reason, count, Number(100 * count / len(rejected))]

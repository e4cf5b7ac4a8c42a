"""What all annotators said, side by side, and the two numbers that stand behind every table of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....datasets.tide.samples import KINDS, Kind
from ...statistics import Estimate, fleiss_kappa
from ...table import Number, Rate, Table
from ..accuracy import SET_NAMES
from .checklist import Item
from .store import Answers
from .tasks import Task

ALL: Final = "Overall"
KAPPA: Final = "Fleiss' κ"


@dataclass(frozen=True, slots=True)
class Panel:
    """The tasks that count, in the order of the draw, and what each annotator said about them."""

    annotators: Sequence[str]
    tasks: Sequence[Task]
    answers: Mapping[str, Answers]

    @property
    def splits(self) -> list[tuple[str, list[Task]]]:
        """The sample sets by their names, then all together."""
        kinds: list[Kind] = [kind for kind in KINDS if any(task.kind == kind for task in self.tasks)]
        parts = [(SET_NAMES[kind], [task for task in self.tasks if task.kind == kind]) for kind in kinds]
        return [*parts, (ALL, list(self.tasks))]

    @property
    def items(self) -> list[Item]:
        """Every item that some task has, in the order of the longest checklist."""
        tasks = sorted(self.tasks, key=lambda task: -len(task.items))
        return list({item.key: item for task in tasks for item in task.items}.values())

    def finished(self, tasks: Sequence[Task]) -> list[Task]:
        """Return those of the tasks that everyone has finished."""
        return [task for task in tasks if self.finishers(task) == len(self.annotators)]

    def finishers(self, task: Task) -> int:
        """Return how many have answered every item of a task."""
        return sum(self.is_done(name, task) for name in self.annotators)

    def is_done(self, name: str, task: Task) -> bool:
        """Return whether one annotator has answered every item of a task."""
        return task.is_done(self.answers[name].get(task.id, {}))

    def votes(self, task: Task, key: str) -> list[str]:
        """Return everyone's answer to an item, in the order of the annotators; shorter where some are missing."""
        said = (self.answers[name].get(task.id, {}).get(key) for name in self.annotators)
        return [value for value in said if value is not None]

    def asked(self, tasks: Sequence[Task], key: str) -> tuple[list[Task], int]:
        """Return those of the tasks whose item everyone has answered, and how many have that item."""
        having = [task for task in tasks if any(item.key == key for item in task.items)]
        return [task for task in having if len(self.votes(task, key)) == len(self.annotators)], len(having)


def clusters(tasks: Sequence[Task]) -> list[str]:
    """Return what intervals take for independent: the triplets."""
    return [task.cluster for task in tasks]


def majority(votes: Sequence[str]) -> str:
    """Return what more than half say, or nothing."""
    label, count = Counter(votes).most_common(1)[0]
    return label if count * 2 > len(votes) else ""


def share(
    estimate: Callable[..., Estimate],
    verdicts: Sequence[bool] | Sequence[Sequence[bool]],
    tasks: Sequence[Task],
    n: int,
) -> Rate:
    """Return the rate that an estimator makes of verdicts, or of each annotator's, over `tasks`; `n` are planned."""
    found = estimate(verdicts, clusters(tasks))
    hits = round(found.value * found.n) if found.n else 0
    return Rate(hits=hits, scored=found.n, planned=n, low=found.interval.low, high=found.interval.high)


def explained(table: Table) -> Table:
    """Return `table`, with a note if one of its κ stands at an end of its interval."""
    at = table.columns.index(KAPPA)
    numbers = [cell for cell in (row[at] for row in table.rows) if isinstance(cell, Number)]
    ends = [(number.value, end) for number in numbers for end in (number.low, number.high) if end is not None]
    if not any(math.isclose(value, end, abs_tol=1e-9) for value, end in ends):
        return table
    said = "An interval that ends at its κ is too short: all agree throughout, or all of one answer is in one triplet."
    return replace(table, note=f"{table.note} {said}".strip())


def kappa(votes: Sequence[Sequence[str | bool]], tasks: Sequence[Task]) -> Number | None:
    """Return Fleiss' κ with its interval; None where it has none: without tasks, of one annotator, or of one answer."""
    categories = sorted({vote for row in votes for vote in row}, key=str)
    if not votes or len(votes[0]) < 2 or len(categories) < 2:
        return None
    found = fleiss_kappa([[list(row).count(each) for each in categories] for row in votes], clusters(tasks))
    if not math.isfinite(found.se):
        return Number(found.value, 2)
    return Number(found.value, 2, low=found.interval.low, high=found.interval.high)

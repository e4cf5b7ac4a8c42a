"""A run scored again from its answers, without a call: every dialogue is talked through once more over its journal.

A question gets the answer that was given at its place, whatever it would ask now: the model has seen the prompt that it
was sent then. What it is scored by is new: statements are executed again, gold too, and records are made anew, so that
a changed comparison, taxonomy or database shows. Nothing here writes to the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Final, TypeAlias

from ...adapters.base import Answer, Json, Message
from ..calls.ledger import answer_of
from ..context import Executor, unit_seed
from ..errors import RunError, Unfinished, first_of
from ..journal import Fields, Key, Line, Lines, place
from ..sql.outcome import Outcome
from ..unit import Experiment, Lane, Unit

AT_ONCE: Final = 32
"""Lanes of one model that go on side by side; it is their SQL that takes the time."""

Keep: TypeAlias = Callable[[Line], None]
"""Takes the `sql` and `record` lines of the new scoring, each at the place of the old one."""


class Unanswered(Unfinished):
    """The run did not come this far."""


class RescoringContext:
    """See `engine.unit.Context`. Steps are numbered as in the run, so that each answer is found at its place."""

    def __init__(
        self,
        unit: Unit,
        known: Mapping[Key | None, Fields],
        executor: Executor,
        seed: int,
        keep: Keep,
        branch: str = "",
    ) -> None:
        self.unit = unit
        self._known = known
        self._executor = executor
        self._seed = seed
        self._keep = keep
        self._branch = branch
        self._next = 0
        self._random: Random | None = None

    @property
    def random(self) -> Random:
        """The dialogue's random numbers, as they were."""
        if self._random is None:
            self._random = Random(unit_seed(self._seed, self.unit.key, self._branch))
        return self._random

    async def ask(self, model: str, messages: Sequence[Message], **options: Json) -> Answer:
        """Return the answer at this place; Unanswered where there is none."""
        line = self._known.get(self._key())
        if line is None or line["k"] != "answer":
            raise Unanswered("draining", f"no answer is on record at step {self._next - 1}")
        return answer_of(line)

    async def execute(self, database: str, sql: str) -> Outcome:
        """Execute a model's SQL again."""
        key = self._key()
        outcome = await self._executor.execute(database, sql)
        self._keep({"k": "sql", **place(key), "outcome": outcome.to_json()})
        return outcome

    async def reference(self, database: str, sql: str) -> Outcome:
        """Run gold SQL, or return what it came to on this database before."""
        return await self._executor.reference(database, sql)

    def record(self, **fields: Json) -> None:
        """Keep a record of the new scoring."""
        self._keep({"k": "record", **place(self._key()), "fields": fields})

    def branch(self, name: str) -> RescoringContext:
        """Return the context of a branch."""
        path = f"{self._branch}/{name}" if self._branch else name
        return RescoringContext(self.unit, self._known, self._executor, self._seed, self._keep, path)

    def _key(self) -> Key:
        self._next += 1
        return Key(self.unit.key, self._branch, self._next - 1)


async def rescore(
    experiment: Experiment,
    models: Sequence[str],
    repeats: int,
    seed: int,
    lines: Lines,
    executor: Executor,
    keep: Keep,
) -> int:
    """Talk every dialogue that has answers through again; return how many those are.

    Raises RunError when the experiment is not the one that was run: another dialogue or more turns than were answered.
    """
    walk = _Walk(experiment, lines, executor, seed, keep)
    try:
        async with asyncio.TaskGroup() as group:
            for model in models:
                lanes = iter(experiment.lanes(model, repeats))
                for _ in range(AT_ONCE):
                    group.create_task(walk.lanes(lanes))
    except* RunError as errors:
        raise first_of(errors) from None
    if strange := sorted(unit for unit in lines.units() if unit not in walk.seen and _answered(lines.of(unit))):
        raise RunError(
            f"{len(strange):,} dialogues of the run are none of this benchmark as it is opened now, {strange[0]} among "
            "them. Name the data that it was run on, or a repaired copy of it."
        )
    return walk.answered


def _answered(known: Mapping[Key | None, Fields]) -> bool:
    return any(line["k"] == "answer" for line in known.values())


class _Walk:
    def __init__(self, experiment: Experiment, lines: Lines, executor: Executor, seed: int, keep: Keep) -> None:
        self.seen: set[str] = set()
        self.answered = 0
        self._experiment = experiment
        self._lines = lines
        self._executor = executor
        self._seed = seed
        self._keep = keep

    async def lanes(self, lanes: Iterator[Lane]) -> None:
        """Take lanes one after another; the rest of a lane that was not finished has no answers either."""
        for lane in lanes:
            for step in lane:
                ended = await asyncio.gather(*map(self._unit, step))
                if not all(ended):
                    break

    async def _unit(self, unit: Unit) -> bool:
        """Score one dialogue again; return whether it came to its end."""
        self.seen.add(unit.key)
        known = self._lines.of(unit.key)
        self.answered += _answered(known)
        context = RescoringContext(unit, known, self._executor, self._seed, self._keep)
        try:
            await self._experiment.dialogue(unit, context)
        except Unanswered as reason:
            if None in known:
                raise RunError(
                    f"{unit.key} takes another course now than in the run, where it had ended: {reason.message}. Its "
                    "data or the code that talks it through changed in more than its scoring."
                ) from None
            return False
        return True

"""A dialogue talked through without a model: with the answers that its benchmark expects.

It serves two ends. With no databases it measures prompts, for an estimate before anything is sent. With them it shows
that the benchmark's own gold, taken as predictions, scores what it should.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ...adapters.base import Answer, Json, Message, Usage
from ..context import Executor
from ..sql.comparison import COMPARISONS
from ..sql.outcome import Outcome
from ..unit import Experiment, Unit

SOME_RESULT: Final = Outcome(
    status="ok", columns=("x",), rows=1, excerpt=((1234.56,),), digests=dict.fromkeys(COMPARISONS, "")
)

Heard = Callable[[Unit, str, Sequence[Message], dict[str, Json], str], None]
"""Called for every question: unit, model, messages, options, and the answer that is given."""


class NoDatabase:
    """Answers every statement with one small row: enough for prompts, good for nothing else."""

    async def execute(self, database: str, sql: str) -> Outcome:
        """Return the row."""
        return SOME_RESULT

    async def reference(self, database: str, sql: str) -> Outcome:
        """Return the row."""
        return SOME_RESULT


class RehearsalContext:
    """See `engine.unit.Context`. Nothing is sent and nothing is journalled; records are kept in `records`."""

    def __init__(self, unit: Unit, answers: Iterator[str], executor: Executor, heard: Heard) -> None:
        self.unit = unit
        self.random = random.Random(0)
        self.records: list[dict[str, Json]] = []
        self._answers = answers
        self._executor = executor
        self._heard = heard

    async def ask(self, model: str, messages: Sequence[Message], **options: Json) -> Answer:
        """Return the next expected answer."""
        text = next(self._answers, "")
        self._heard(self.unit, model, messages, options, text)
        return Answer(text=text, model=model, usage=Usage())

    async def execute(self, database: str, sql: str) -> Outcome:
        """Run SQL, if there are databases."""
        return await self._executor.execute(database, sql)

    async def reference(self, database: str, sql: str) -> Outcome:
        """Run gold SQL, if there are databases."""
        return await self._executor.reference(database, sql)

    def record(self, **fields: Json) -> None:
        """Keep a record."""
        self.records.append(fields)

    def branch(self, name: str) -> RehearsalContext:
        """Return a context that takes its answers from the same place."""
        return RehearsalContext(self.unit, self._answers, self._executor, self._heard)


async def rehearse(
    experiment: Experiment, model: str, repeats: int, executor: Executor, heard: Heard
) -> list[tuple[Unit, list[dict[str, Json]]]]:
    """Talk every dialogue of `model` through in plan order; return what each recorded."""
    kept: list[tuple[Unit, list[dict[str, Json]]]] = []
    for lane in experiment.lanes(model, repeats):
        for step in lane:
            for unit in step:
                context = RehearsalContext(unit, iter(experiment.expected(unit)), executor, heard)
                await experiment.dialogue(unit, context)
                kept.append((unit, context.records))
    return kept

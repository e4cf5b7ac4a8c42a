"""Dialogues talked through again from their journal: nothing is asked, nothing is executed, nothing is written.

The journal keeps answers and the digest of each question, not the prompts: they follow from the data. Replaying a
dialogue brings them back, with everything else that passed through its context, in the order in which it passed.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...adapters.base import Answer, Json, Message
from ..calls.ledger import answer_of
from ..context import Executor, statement_digest, unit_seed
from ..errors import Diverged, Unfinished
from ..journal import Fields, Key, Lines, canonical
from ..sql.outcome import Outcome
from ..unit import Experiment, Unit


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its answer. `messages` is None where the prompt cannot be brought back.

    `model` is the label that was asked; `line` is the answer's line (`engine.calls.ledger`): its cost, attempts and
    times.
    """

    branch: str
    model: str
    messages: tuple[Message, ...] | None
    answer: Answer
    line: Fields = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Executed:
    """A statement and what it came to: the model's own, or a `gold` one. `sql` is None where it cannot be told."""

    database: str
    sql: str | None
    outcome: Outcome
    gold: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the dialogue put on record for the reports."""

    fields: Mapping[str, Any]


Step: TypeAlias = Asked | Executed | Recorded


@dataclass(slots=True)
class Transcript:
    """One dialogue, step by step; without `ended` it waits for an answer that has not come yet.

    `labels` name its model and what else its benchmark tells dialogues apart by.
    """

    unit: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    ended: bool = False
    steps: list[Step] = field(default_factory=list[Step])


async def replay(
    lines: Lines, experiment: Experiment, models: Sequence[str], repeats: int, executor: Executor, seed: int
) -> AsyncGenerator[Transcript]:
    """Yield every dialogue that has begun, in plan order.

    Gold statements go to `executor`. Raises Diverged when the journal is not that of this experiment.
    """
    executor = _Remembering(executor)
    for model in models:
        for lane in experiment.lanes(model, repeats):
            for step in lane:
                for unit in step:
                    if known := lines.of(unit.key):
                        transcript = Transcript(unit.key, {"model": model, **unit.labels}, None in known)
                        context = ReplayContext(unit, known, executor, seed, transcript.steps)
                        try:
                            await experiment.dialogue(unit, context)
                        except Unfinished:
                            transcript.ended = False
                        yield transcript


def recall(lines: Lines) -> Iterator[Transcript]:
    """Yield every dialogue that has begun as the journal alone tells it: without prompts, statements and gold."""
    for unit in sorted(lines.units()):
        known = lines.of(unit)
        if not known:  # asked, and never answered
            continue
        transcript = Transcript(unit, ended=None in known)
        for key in sorted(key for key in known if key):
            match known[key]:
                case {"k": "answer", **line}:
                    transcript.labels = transcript.labels or {"model": line["m"]}
                    transcript.steps.append(Asked(key.branch, line["m"], None, answer_of(line), line))
                case {"k": "sql", "outcome": outcome}:
                    transcript.steps.append(Executed("", None, Outcome.from_json(outcome)))
                case {"fields": fields}:
                    transcript.steps.append(Recorded(fields))
                case _:
                    pass
        yield transcript


class _Remembering:
    """Asks for every gold statement once."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._known: dict[tuple[str, str], Outcome] = {}

    async def execute(self, database: str, sql: str) -> Outcome:
        return await self._executor.execute(database, sql)

    async def reference(self, database: str, sql: str) -> Outcome:
        key = database, sql
        if key not in self._known:
            self._known[key] = await self._executor.reference(database, sql)
        return self._known[key]


class ReplayContext:
    """See `engine.unit.Context`. What is not in the journal ends the dialogue as Unfinished."""

    def __init__(
        self,
        unit: Unit,
        known: Mapping[Key | None, Fields],
        executor: Executor,
        seed: int,
        steps: list[Step],
        branch: str = "",
    ) -> None:
        self.unit = unit
        self.random = random.Random(unit_seed(seed, unit.key, branch))
        self._known = known
        self._executor = executor
        self._seed = seed
        self._steps = steps
        self._branch = branch
        self._next = 0

    async def ask(self, model: str, messages: Sequence[Message], **options: Json) -> Answer:
        """Return the journalled answer."""
        line = self._line("answer")
        answer = answer_of(line)
        self._steps.append(Asked(self._branch, model, tuple(messages), answer, line))
        return answer

    async def execute(self, database: str, sql: str) -> Outcome:
        """Return the journalled outcome."""
        line = self._line("sql")
        digest = statement_digest(database, sql)
        if line.get("h", digest) != digest:  # a scoring's line has none
            raise self._diverged("another statement was executed here")
        outcome = Outcome.from_json(line["outcome"])
        self._steps.append(Executed(database, sql, outcome))
        return outcome

    async def reference(self, database: str, sql: str) -> Outcome:
        """Run gold SQL, or recall what it came to."""
        outcome = await self._executor.reference(database, sql)
        self._steps.append(Executed(database, sql, outcome, gold=True))
        return outcome

    def record(self, **fields: Json) -> None:
        """Compare what is recorded with what was."""
        known = self._line("record")["fields"]
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
        if known != plain and canonical(known) != canonical(fields):
            raise self._diverged("what would be recorded is not what was recorded here")
        self._steps.append(Recorded(fields))

    def branch(self, name: str) -> ReplayContext:
        """Return a context of its own; its steps stand among this one's."""
        below = f"{self._branch}/{name}" if self._branch else name
        return ReplayContext(self.unit, self._known, self._executor, self._seed, self._steps, below)

    def _line(self, kind: str) -> Fields:
        self._next += 1
        line = self._known.get(Key(self.unit.key, self._branch, self._next - 1))
        if line is None:
            raise Unfinished("draining", "the journal ends here")
        if line["k"] != kind:
            raise self._diverged("another step was taken here")
        return line

    def _diverged(self, what: str) -> Diverged:
        return Diverged(self.unit.key, self._branch, self._next - 1, what)

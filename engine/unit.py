"""What the engine runs: units, and the two interfaces that join it to a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from ..adapters.base import Answer, Json, Message
from .spec import ModelSpec
from .sql.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One dialogue: a session or sample under one condition or protocol, with one model, one repeat.

    `key` is unique in the run and stable across resumes. `item` is the session or sample (what `--limit` counts),
    `model` the label of the model it evaluates, `turns` how many of that model's turns it plans.
    """

    key: str
    item: str
    model: str
    turns: int
    repeat: int = 0
    labels: Mapping[str, str] = field(default_factory=dict[str, str])


Lane: TypeAlias = "Iterable[tuple[Unit, ...]]"
"""Units in an order that matters: each step's units run side by side, and the next step begins when all have ended.
A unit that shares nothing is a lane of one step of one."""


class Reference(NamedTuple):
    """A gold statement, the database it runs on, and the name by which a user finds it."""

    name: str
    database: str
    sql: str


class Context(Protocol):
    """All that a dialogue may do to the outside; every result is in the journal before it is returned."""

    unit: Unit

    @property
    def random(self) -> Random:
        """The only source of chance that a dialogue may use: seeded by (run seed, unit)."""
        ...

    async def ask(self, model: str, messages: Sequence[Message], **options: Json) -> Answer:
        """Ask `model` (as `provider/name`) and return its answer: paid once, replayed ever after.

        Raises RuntimeError when another question of this context is pending. A provider's failure, a stopped lane
        or a spent budget leaves the dialogue through `Unfinished`, which no benchmark code may catch.
        """
        ...

    async def execute(self, database: str, sql: str) -> Outcome:
        """Run model-written SQL under the guards. Journalled."""
        ...

    async def reference(self, database: str, sql: str) -> Outcome:
        """Run gold SQL under its longer limit; computed once per database content and SQL, shared by all units."""
        ...

    def record(self, **fields: Json) -> None:
        """Append a line that reports read. Its order within the unit is kept."""
        ...

    def branch(self, name: str) -> Context:
        """Return a context of its own for questions that run beside this one's."""
        ...


class Experiment(Protocol):
    """A benchmark opened on its data with every option fixed: what one run executes."""

    name: str
    databases: Mapping[str, Path]

    @property
    def auxiliary(self) -> Sequence[ModelSpec]:
        """The models that dialogues ask, by label, besides the one that they evaluate; none in most benchmarks."""
        ...

    def identity(self) -> dict[str, Json]:
        """Return what decides the requests (data and prompt hashes, options): it goes into the manifest."""
        ...

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        """Yield the lanes of one model lazily, in plan order; the longest first, since they end last."""
        ...

    async def dialogue(self, unit: Unit, ctx: Context) -> str | None:
        """Talk `unit` through. Deterministic given what `ctx` returns.

        Where it came to an end that cannot be scored, by a fault that is not the model's, return that in words.
        """
        ...

    def references(self) -> Iterable[Reference]:
        """Return every gold statement that scores rest on: a run begins by checking that all of them run."""
        ...

    def expected(self, unit: Unit) -> Iterable[str]:
        """Return the answers that gold gives, in order: for estimates and for checking gold against itself."""
        ...

    def ended(self, unit: Unit, records: Sequence[Mapping[str, Json]]) -> None:
        """Take in a unit that an earlier part of the run has ended: rebuild what later units need of it."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """An experiment whose later units need what earlier ones put on record, each time as a `record`."""

    record: type[Struct]


@runtime_checkable
class Prepares(Protocol):
    """An experiment with something to do once before its first dialogue: a run that has none left is spared it."""

    async def prepare(self) -> None:
        """Do it. Raises Unfinished when it cannot be done now: nothing was sent then."""
        ...

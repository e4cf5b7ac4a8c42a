"""A dialogue's only door to the outside: whatever comes through it is in the journal first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import TracebackType
from typing import Protocol

from ..adapters.base import Answer, Json, Message, Question
from .calls.calls import Calls
from .calls.route import Route
from .errors import Diverged, Unfinished
from .journal import Journal, Key, Line, canonical, place
from .sql.outcome import Outcome
from .unit import Unit


class Executor(Protocol):
    """Runs SQL on the run's databases, by their names."""

    async def execute(self, database: str, sql: str) -> Outcome:
        """Run a model's SQL under the guards."""
        ...

    async def reference(self, database: str, sql: str) -> Outcome:
        """Run gold SQL, once per database content."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What all contexts of a run share."""

    journal: Journal
    calls: Calls
    executor: Executor
    routes: Mapping[str, Route]
    seed: int
    closing: Callable[[], Unfinished | None]


class UnitContext:
    """The context of one unit, or of one branch of it. See `engine.unit.Context` for what each method promises.

    Keys are (unit, branch, sequence): every `ask`, `execute` and `record` takes the next number, so a replayed dialogue
    finds its own past at the same places. After an `Unfinished` the context is poisoned: code that swallowed it cannot
    go on as if nothing had happened.
    """

    def __init__(self, unit: Unit, door: Door, branch: str = "") -> None:
        self.unit = unit
        self._door = door
        self._branch = branch
        self._step = _Steps(unit.key, branch, door.closing)
        self._branches: set[str] = set()
        self._random: Random | None = None

    @property
    def random(self) -> Random:
        """See `engine.unit.Context.random`; made when it is asked for, since few dialogues do."""
        if self._random is None:
            self._random = Random(unit_seed(self._door.seed, self.unit.key, self._branch))
        return self._random

    async def ask(self, model: str, messages: Sequence[Message], **options: Json) -> Answer:
        """Ask a model; see `engine.unit.Context.ask`."""
        route = self._door.routes[model]
        question = Question(model=route.name, messages=tuple(messages), options={**route.options, **options})
        with self._step as key:
            return await self._door.calls.ask(key, route, question, self.unit.repeat)

    async def execute(self, database: str, sql: str) -> Outcome:
        """Run a model's SQL; see `engine.unit.Context.execute`."""
        digest = statement_digest(database, sql)
        with self._step as key:
            line = self._door.journal.find(key)
            if line is not None:
                self._same(key, line, "sql", digest)
                return Outcome.from_json(line["outcome"])
            outcome = await self._door.executor.execute(database, sql)
            # Not awaited: any later line, the next `sent` among them, stands behind this one in the file, so a crash
            # can lose it only together with everything that was built on it.
            self._door.journal.append({"k": "sql", **place(key), "h": digest, "outcome": outcome.to_json()})
            return outcome

    async def reference(self, database: str, sql: str) -> Outcome:
        """Run gold SQL; see `engine.unit.Context.reference`. Not journalled: a function of data alone."""
        return await self._door.executor.reference(database, sql)

    def record(self, **fields: Json) -> None:
        """Append a line that reports read; a replayed one must be the same."""
        with self._step as key:
            line: Line = {"k": "record", **place(key), "fields": fields}
            known = self._door.journal.find(key)
            if known is None:
                self._door.journal.append(line)
            elif known["k"] != "record":
                raise Diverged(*key, "another step was taken here")
            elif canonical(known["fields"]) != canonical(fields):
                raise Diverged(*key, "what would be recorded is not what was recorded here")

    def branch(self, name: str) -> UnitContext:
        """Return a context of its own for questions that run beside this one's. A name is used once."""
        if name in self._branches:
            raise RuntimeError(f"branch {name!r} of {self.unit.key} exists already")
        self._branches.add(name)
        return UnitContext(self.unit, self._door, f"{self._branch}/{name}" if self._branch else name)

    def _same(self, key: Key, line: Mapping[str, Json], kind: str, digest: str) -> None:
        if line["k"] != kind or line.get("h") != digest:
            raise Diverged(
                *key, "another statement was executed here" if line["k"] == kind else "another step was taken here"
            )


class _Steps:
    """The numbers of one context's steps: each is taken alone; an Unfinished passes once and is repeated ever after."""

    def __init__(self, unit: str, branch: str, closing: Callable[[], Unfinished | None]) -> None:
        self._unit = unit
        self._branch = branch
        self._closing = closing
        self._next = 0
        self._pending = False
        self._poison: Unfinished | None = None

    def __enter__(self) -> Key:
        if self._poison:
            raise self._poison
        if self._pending:
            raise RuntimeError(f"{self._unit}: a question is pending; parallel ones go through ctx.branch(name)")
        if closing := self._closing():
            self._poison = closing
            raise closing
        self._pending = True
        self._next += 1
        return Key(self._unit, self._branch, self._next - 1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pending = False
        if isinstance(error, Unfinished):
            self._poison = error


def statement_digest(database: str, sql: str) -> str:
    """Return the hash by which the journal knows a statement that was executed."""
    return hashlib.blake2b(f"{database}\0{sql}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def unit_seed(seed: int, unit: str, branch: str) -> int:
    """Return the seed of a dialogue's own random numbers: a stable hash of the run's and its place."""
    return int.from_bytes(hashlib.blake2b(f"{seed}\0{unit}\0{branch}".encode(), digest_size=8).digest(), "big")

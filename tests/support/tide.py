"""TIDE-Bench's dialogues without server, engine or worker processes: agents are called, SQL runs in this process."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from turntide.adapters.base import Answer, Json, Message
from turntide.datasets.databases import open_readonly
from turntide.engine.sql.comparison import Digester
from turntide.engine.sql.outcome import Outcome
from turntide.engine.unit import Unit

Speaker = Callable[[Sequence[Message]], Answer | str]
"""Answers a prompt; a text stands for an answer that came back whole."""


class Databases:
    """Runs SQL on databases by name and remembers what it came to."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._connections = {name: open_readonly(path) for name, path in paths.items()}
        self._known: dict[tuple[str, str], Outcome] = {}

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def run(self, database: str, sql: str) -> Outcome:
        key = database, sql
        if key not in self._known:
            self._known[key] = self._outcome(*key)
        return self._known[key]

    def _outcome(self, database: str, sql: str) -> Outcome:
        digester = Digester()
        try:
            for row in self._connections[database].execute(sql):
                digester.add(row)
        except sqlite3.Error as error:
            return Outcome(status="syntax" if "syntax" in str(error) else "runtime", message=str(error))
        return Outcome(status="ok", rows=digester.rows, digests=digester.digests())


@dataclass
class DirectContext:
    """See `engine.unit.Context`. `speakers` answer by the label of the model that is asked."""

    unit: Unit
    databases: Databases
    speakers: Mapping[str, Speaker]
    records: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    prompts: list[tuple[str, Sequence[Message]]] = field(default_factory=list[tuple[str, Sequence[Message]]])
    executed: list[str] = field(default_factory=list[str])
    random: random.Random = field(default_factory=lambda: random.Random(0))

    async def ask(self, model: str, messages: Sequence[Message], **options: Json) -> Answer:
        self.prompts.append((model, messages))
        said = self.speakers[model](messages)
        return Answer(text=said, model=model, usage=None) if isinstance(said, str) else said

    async def execute(self, database: str, sql: str) -> Outcome:
        self.executed.append(sql)
        return self.databases.run(database, sql)

    async def reference(self, database: str, sql: str) -> Outcome:
        return self.databases.run(database, sql)

    def record(self, **fields: Json) -> None:
        self.records.append(fields)

    def branch(self, name: str) -> DirectContext:
        raise NotImplementedError


def one_by_one(*answers: Answer | str) -> Speaker:
    """Return a speaker that gives these answers one after another, and again from the first."""
    left = cycle(answers)

    def speak(messages: Sequence[Message]) -> Answer | str:
        return next(left)

    return speak


def scripted(*answers: str) -> Speaker:
    """Return a speaker that gives these answers one after another, then nothing."""
    left = iter(answers)
    return lambda _: next(left, "")

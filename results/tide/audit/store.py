"""The audit's file: what is put before whom, and every answer, in SQLite.

An answer is on disk, and in this one file, before it is acknowledged: a server that is killed loses nothing that a
page was told is saved, and a copy of the file has it all. Hence a rollback journal and no WAL, which keeps the latest
answers in a second file and saves time that people do not notice; one that is deleted with each save, so that nothing
stays beside the file; and `synchronous=EXTRA`, since with FULL a power cut can bring the deleted journal back, which
then undoes the save.

Tasks are kept whole: nobody's question changes while they think about it, and the report needs no other file. Tokens
are kept as they are. A hash would guard nothing, since whoever reads the file has the answers, which the token is for;
and a restarted server could not print the addresses again. The file is its owner's alone.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias

import msgspec

from ....adapters.base import ConfigurationError
from ....engine.system.files import sync_folder
from .tasks import Subject, Task

Answers: TypeAlias = dict[str, dict[str, str]]
"""What one annotator said: by task, then by item."""

_APPLICATION: Final = 0x54494441
_BUSY: Final = 10.0
"""Seconds that a write waits for another process that writes the same file."""

_SCHEMA: Final = """
CREATE TABLE audit (plan TEXT NOT NULL);
CREATE TABLE task (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, content TEXT NOT NULL);
CREATE TABLE annotator (name TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, place INTEGER NOT NULL DEFAULT 0);
CREATE TABLE answer (
  annotator TEXT NOT NULL REFERENCES annotator, task TEXT NOT NULL REFERENCES task (id), item TEXT NOT NULL,
  value TEXT NOT NULL, PRIMARY KEY (annotator, task, item)
) WITHOUT ROWID;
CREATE TABLE comment (
  annotator TEXT NOT NULL REFERENCES annotator, task TEXT NOT NULL REFERENCES task (id), text TEXT NOT NULL,
  PRIMARY KEY (annotator, task)
) WITHOUT ROWID;
"""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How the tasks were drawn. `count` and `calibration` are in triplets, or in router decisions.

    `source` is the name of the set of triplets and `sha256` that of its file. `runs` are the runs that decisions are
    from, `router` who made these, `simulated` whether a simulated model had a part in the dialogues.
    """

    format: Literal["turntide-tide-audit-1"] = "turntide-tide-audit-1"
    subject: Subject
    source: str
    sha256: str
    synthetic: bool
    runs: tuple[str, ...] = ()
    router: str = ""
    simulated: bool = False
    count: int
    calibration: int
    seed: int


class Annotator(msgspec.Struct, frozen=True):
    """Who answers, and the secret that says that it is they."""

    name: str
    token: str


class Store:
    """One audit's file; `reading` refuses all writes. Raises ConfigurationError when it is none, or cannot be used.

    Whoever only reads opens it for writing too, since a save that a killed server left half done has to be taken back
    first.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        if not path.is_file():
            raise ConfigurationError(f"there is no audit {path}. `turntide tide audit serve` begins one.")
        self.path = path
        with _plainly(path):
            self._database = sqlite3.connect(path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
            try:
                self.plan, self.tasks = self._read()
                self._settle(reading)
            except BaseException:
                self.close()
                raise

    @classmethod
    def create(cls, path: Path, plan: Plan, tasks: Sequence[Task]) -> Store:
        """Begin an audit where there is no file yet; it is there as a whole, or not at all."""
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
        with _plainly(path):
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL, 0o600))
            try:
                _write(draft, plan, tasks)
                os.link(draft, path)
                sync_folder(path.parent)
            finally:
                draft.unlink()
        return cls(path)

    def enrol(self, names: Sequence[str]) -> None:
        """Add annotators, each with a token of their own; one that is there already keeps theirs."""
        if not names:
            return
        rows = ", ".join(["(?, ?)"] * len(names))
        texts = [text for name in names for text in (name, secrets.token_urlsafe(24))]
        with _plainly(self.path):
            self._database.execute(f"INSERT INTO annotator (name, token) VALUES {rows} ON CONFLICT DO NOTHING", texts)

    def annotators(self) -> list[Annotator]:
        """Return all annotators by name."""
        return [Annotator(*row) for row in self._database.execute("SELECT name, token FROM annotator ORDER BY name")]

    def answer(self, annotator: str, task: str, item: str, value: str) -> None:
        """Keep an answer in place of the one before; it is on disk when this returns."""
        self._database.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?)", (annotator, task, item, value))

    def comment(self, annotator: str, task: str, text: str) -> None:
        """Keep a comment in place of the one before; an empty one is none."""
        if text:
            self._database.execute("INSERT OR REPLACE INTO comment VALUES (?, ?, ?)", (annotator, task, text))
        else:
            self._database.execute("DELETE FROM comment WHERE annotator = ? AND task = ?", (annotator, task))

    def move(self, annotator: str, place: int) -> None:
        """Keep where an annotator is."""
        self._database.execute("UPDATE annotator SET place = ? WHERE name = ?", (place, annotator))

    def place(self, annotator: str) -> int:
        """Return where an annotator was last."""
        return int(self._one("SELECT place FROM annotator WHERE name = ?", annotator))

    def answers(self, annotator: str) -> Answers:
        """Return everything that an annotator said."""
        found: defaultdict[str, dict[str, str]] = defaultdict(dict)
        rows = "SELECT task, item, value FROM answer WHERE annotator = ? ORDER BY task, item"
        for task, item, value in self._database.execute(rows, (annotator,)):
            found[task][item] = value
        return dict(found)

    def comments(self, annotator: str) -> Mapping[str, str]:
        """Return an annotator's comments by task."""
        rows = "SELECT task, text FROM comment WHERE annotator = ? ORDER BY task"
        return dict(self._database.execute(rows, (annotator,)))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _read(self) -> tuple[Plan, list[Task]]:
        if self._one("PRAGMA application_id") != _APPLICATION:
            raise ConfigurationError(f"{self.path} is no audit. Name another file; a new one is made where none is.")
        rows = self._database.execute("SELECT content FROM task ORDER BY place")
        tasks = [msgspec.json.decode(content, type=Task) for (content,) in rows]
        return msgspec.json.decode(self._one("SELECT plan FROM audit"), type=Plan), tasks

    def _settle(self, reading: bool) -> None:
        """Take in what an older version kept beside the file (WAL); a reader that may not reads both."""
        with suppress(sqlite3.OperationalError) if reading else nullcontext():
            self._database.execute("PRAGMA journal_mode = DELETE")
        self._database.execute("PRAGMA synchronous = EXTRA")
        self._database.execute("PRAGMA foreign_keys = ON")
        self._database.execute(f"PRAGMA query_only = {reading}")

    def _one(self, statement: str, *values: str) -> Any:  # noqa: ANN401 - whatever the column holds
        return self._database.execute(statement, values).fetchone()[0]


def _write(draft: Path, plan: Plan, tasks: Sequence[Task]) -> None:
    database = sqlite3.connect(draft)
    try:
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.executescript(_SCHEMA)
        database.execute("INSERT INTO audit VALUES (?)", (msgspec.json.encode(plan).decode(),))
        rows = [(place, task.id, msgspec.json.encode(task).decode()) for place, task in enumerate(tasks)]
        database.executemany("INSERT INTO task VALUES (?, ?, ?)", rows)
        database.commit()
    finally:
        database.close()


@contextmanager
def _plainly(path: Path) -> Generator[None]:
    """Turn what the user can mend into a sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise ConfigurationError(f"{path} cannot be used as an audit: {error}") from None
    except FileExistsError:
        raise ConfigurationError(f"{path} was made meanwhile; the same command goes on with it") from None
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror}") from None

"""Scorings of a run that came after its own, each a file of its own beside the journal: `scorings/0001.jsonl`, ….

The journal stays what was asked, answered and recorded at the time, for three reasons: it is append-only and keyed, so
that a second record at one place is an error; a resume compares what it would record with what it did; and the first
scoring must stay readable beside every later one. A scoring is derived and may be deleted. It is written whole and then
given its name, so that a killed `rescore` leaves none. Its lines have the journal's form:

    scoring   the last: the run's name, the versions that scored, and what the data or options differ in from the run's
    gold      the examination of the gold, on the data as it is now
    sql       the outcome of a model's statement, at the place of the journal's
    record    what was recorded, at the place of the journal's

Reports and exports take these three kinds from the newest scoring, and all else (answers, money) from the journal.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from ...adapters.base import ConfigurationError
from ..errors import RunError
from ..journal import Fields, Key, Line, key_of, scan
from ..journal.codec import encode
from ..journal.links import FIRST, links
from ..system.files import require_no_links, sync_folder

FOLDER: Final = "scorings"
REPLACED: Final = ("gold", "sql", "record")


class Draft:
    """A scoring that is being written. Use it as a context; it counts only after `finish`.

    Raises ConfigurationError when the run's folder cannot be written, or holds symbolic links.
    """

    def __init__(self, run: Path) -> None:
        require_no_links(run)
        self._folder = run / FOLDER
        self._path = self._folder / f".draft-{os.getpid()}.jsonl"
        self._last = FIRST
        try:
            self._folder.mkdir(exist_ok=True)
            self._path.unlink(missing_ok=True)
            self._file = self._path.open("xb")
        except OSError as error:
            raise ConfigurationError(
                f"{run} cannot be written ({error.strerror}): a scoring is a file in the run's folder. "
                f"Make it writable, or score a copy."
            ) from error

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)
        with suppress(OSError):  # not empty: it holds scorings
            self._folder.rmdir()

    def add(self, line: Line) -> None:
        """Add a line."""
        raw = encode(line, self._last)
        self._last = links(raw)[1]
        self._file.write(raw)

    def finish(self, seal: Line) -> int:
        """End it with what it is, and give the file the next number; return that."""
        self.add({"k": "scoring", **seal})
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._named()

    def _named(self) -> int:
        """Give the file the next number, which another process cannot have taken: a link is made only where none is."""
        for number in itertools.count(max(numbers(self._folder.parent), default=0) + 1):
            with suppress(FileExistsError):
                os.link(self._path, self._folder / f"{number:04}.jsonl")
                sync_folder(self._folder)
                return number
        raise RunError(f"{self._folder} takes no more scorings")


def numbers(run: Path) -> list[int]:
    """Return the numbers of a run's scorings in order; the run's own is 0 and not among them."""
    return sorted(int(path.stem) for path in (run / FOLDER).glob("[0-9]*.jsonl") if path.stem.isdigit())


class Scoring:
    """One scoring, read: what it is, and which places it covers."""

    def __init__(self, run: Path, number: int) -> None:
        self.number = number
        self.path = run / FOLDER / f"{number:04}.jsonl"
        if not self.path.exists():
            known = ", ".join(map(str, [0, *numbers(run)]))
            raise RunError(f"{run} has no scoring {number}; it has {known}, where 0 is the run's own.")
        if not self.path.is_file():
            raise RunError(f"{self.path} is no file. Remove it and score again; the run itself is unharmed.")
        self.seal: Fields = {}
        self._covered: set[tuple[str, Key | None]] = set()
        for line in self.lines():
            if line["k"] == "scoring":
                self.seal = line
            self._covered.add(_place(line))
        if not self.seal:
            raise RunError(f"{self.path} lacks its end. Delete it and score again; the run itself is unharmed.")

    def require(self, run: str) -> None:
        """Raise RunError when it is another run's than `run`: its records would stand among this one's."""
        if self.seal.get("run", run) != run:
            raise RunError(
                f"{self.path} is a scoring of another run ({self.seal['run']}). Delete it, or move it to where it "
                "belongs; the run itself is unharmed."
            )

    def lines(self, record: type[Struct] | None = None) -> Iterator[Fields]:
        """Yield its lines, the seal last. Raises DamagedJournal."""
        return scan(self.path, record)

    def covers(self, line: Fields) -> bool:
        """Return whether a line of the journal has given way to one of this scoring."""
        return line["k"] in REPLACED and _place(line) in self._covered


def _place(line: Fields) -> tuple[str, Key | None]:
    return line["k"], key_of(line) if "u" in line else None


def merged(journal: Iterator[Fields], scoring: Scoring, record: type[Struct] | None = None) -> Iterator[Fields]:
    """Yield the journal's lines but for those that the scoring replaces, then the scoring's."""
    yield from (line for line in journal if not scoring.covers(line))
    yield from (line for line in scoring.lines(record) if line["k"] in REPLACED)


def outdated(journal: Iterator[Fields], scoring: Scoring) -> int:
    """Return how many records the run has made since the scoring."""
    return sum(line["k"] == "record" and not scoring.covers(line) for line in journal)

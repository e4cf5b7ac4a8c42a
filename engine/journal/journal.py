"""The run's append-only truth: what was answered is found here before anything is asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from msgspec import Struct

from .codec import Fields, decode, encode, parse_head
from .errors import DamagedJournal, DuplicateKey
from .index import Chains, Index
from .keys import Key, Place, end, place_of, step
from .links import FIRST, links
from .logfile import LogFile, checked, whole_lines
from .writer import Statistics, Writer, at_once

Visitor: TypeAlias = Callable[[Fields], None]


def scan(path: Path, record: type[Struct] | None = None) -> Iterator[Fields]:
    """Yield every line of a journal that someone else may be writing; a tail without newline is left alone.

    Raises DamagedJournal at the first line that is not what was written, is none of ours, or holds a record of another
    form than `record`.
    """
    return (checked(path, offset, raw, record=record) for offset, raw in whole_lines(path))


class Tail:
    """Reads a journal that someone else is writing, each time from where it stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next = 0
        self._last = FIRST

    def lines(self) -> Iterator[Fields]:
        """Yield the lines that are new; none while there is no journal. Raises as `scan` does."""
        if self._path.exists():
            for offset, raw in whole_lines(self._path, self._next, self._last):
                line = checked(self._path, offset, raw)
                self._next, self._last = offset + len(raw), links(raw)[1]
                yield line


class Journal:
    """The journal of one run folder, for the one process that holds the folder's lock."""

    def __init__(self, file: LogFile, linger: Callable[[], float] = at_once) -> None:
        self.path = file.path
        self._file = file
        self._writer = Writer(file, file.whole_end(), linger)
        self._last = file.last_checksum(self._writer.end)
        self._index = Index(self._line_at)
        self._records = Chains()

    @classmethod
    def open(cls, path: Path, *, visitors: Iterable[Visitor] = (), linger: Callable[[], float] = at_once) -> Self:
        """Read `path` through once, creating it if need be, and return it ready for more.

        Each visitor is called once with the head of every line (`kinds.heads`), in order. A torn tail moves to
        `journal.torn`. Raises DamagedJournal or DuplicateKey, with the file as it was.
        """
        journal = cls(LogFile(path), linger)
        try:
            journal._load(tuple(visitors))
        except BaseException:
            journal.close()
            raise
        return journal

    def _load(self, visitors: tuple[Visitor, ...]) -> None:
        for offset, raw in whole_lines(self.path):
            head = checked(self.path, offset, raw, parse_head)
            self._enter(head, offset)
            for visit in visitors:
                visit(head)
        self._file.cut(self._writer.end)

    def append(self, line: Mapping[str, Any]) -> None:
        """Put `line` at the end, in memory; raises DuplicateKey when its place is filled, or JournalStopped."""
        raw = encode(line, self._last)
        self._writer.check()
        self._enter(line, self._writer.end)
        self._writer.append(raw)
        self._last = links(raw)[1]

    async def durable(self) -> None:
        """Wait until all that was appended before this call is on disk; raises JournalStopped when it cannot be."""
        await self._writer.durable()

    async def commit(self, line: Mapping[str, Any]) -> None:
        """Append `line` and wait until it is on disk."""
        self.append(line)
        await self._writer.durable()

    def find(self, key: Key) -> Fields | None:
        """Return the answer, statement or record at `key`, if there is one.

        A line is found as soon as it was appended; whoever appended it waits for the disk before using it.
        """
        return self._at(step(key))

    def ended(self, unit: str) -> bool:
        """Return whether `unit` came to its terminal state."""
        return self._at(end(unit)) is not None

    def records(self, unit: str, form: type[Struct] | None = None) -> list[Fields]:
        """Return the `fields` that `unit` recorded: its own first, then each branch's by name, each in its order.

        Raises DamagedJournal at one of another form than `form`.
        """
        offsets = self._records.offsets(unit)
        lines = [line for offset in offsets if (line := self._line_at(offset, form))["u"] == unit]
        return [line["fields"] for line in sorted(lines, key=lambda line: (line["b"], line["s"]))]

    @property
    def size(self) -> int:
        """Bytes that are on disk."""
        return self._writer.size

    def statistics(self) -> Statistics:
        """Return what this process has written."""
        return self._writer.statistics()

    def close(self) -> None:
        """Write what is left and close the file; blocks briefly, works without a running loop, and may be repeated.

        Raises JournalStopped when that last write fails.
        """
        try:
            self._writer.close()
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _at(self, place: Place) -> Fields | None:
        found = self._index.find(place)
        return found[1] if found else None

    def _enter(self, line: Mapping[str, Any], offset: int) -> None:
        place = place_of(line)
        if place is None:
            return
        holder = self._index.add(place, offset)
        if holder != offset:
            raise DuplicateKey(self.path, f"{line['k']} {place[1:]}", holder, offset)
        if line["k"] == "record":
            self._records.add(line["u"], offset)

    def _line_at(self, offset: int, record: type[Struct] | None = None) -> Fields:
        try:
            raw = self._writer.line_at(offset)
        except EOFError as error:
            raise DamagedJournal(self.path, offset, str(error)) from error
        return checked(self.path, offset, raw, decode, record)

"""A run's answers by their place, read from its journal without holding it: another process may be writing."""

from __future__ import annotations

from pathlib import Path

from .journal import Fields, Key, scan
from .journal.codec import decode
from .journal.logfile import whole_lines
from .ledger import key_of


class Answers:
    """Only offsets stay in memory; `ended` are the units that came to their end.

    Raises JournalError when the journal is damaged.
    """

    def __init__(self, journal: Path) -> None:
        self._path = journal
        self._offsets: dict[Key, int] = {}
        self.ended: set[str] = set()
        self.units: set[str] = set()
        for (offset, _), line in zip(whole_lines(journal), scan(journal), strict=False):
            match line["k"]:
                case "answer":
                    self._offsets[key_of(line)] = offset
                    self.units.add(line["u"])
                case "end":
                    self.ended.add(line["u"])
                case _:
                    pass

    def find(self, key: Key) -> Fields | None:
        """Return the answer's line at `key`, if there is one."""
        offset = self._offsets.get(key)
        if offset is None:
            return None
        with self._path.open("rb") as file:
            file.seek(offset)
            return decode(file.readline())

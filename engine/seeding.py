"""Answers taken over from an older run: the way on after prompts, data or code changed.

A question takes over the old answer when the same request (by its hash: bytes, provider, account, repeat) was answered
at the same place. What changed is asked anew, and so is everything that follows from it. An answer that was taken over
costs this run nothing and says where it comes from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .binding import JOURNAL, require_journal
from .journal import Key
from .journal.codec import decode, parse_head
from .journal.logfile import checked, whole_lines
from .ledger import Line, key_of
from .manifest import Manifest


class Seed:
    """The answers of the run in `folder`, by place; only their offsets stay in memory.

    Raises ConfigurationError when the folder holds no run, and RunError when its journal is gone, damaged or another's.
    """

    def __init__(self, folder: Path) -> None:
        self.run = Manifest.load(folder).run
        self._path = folder / JOURNAL
        require_journal(folder, self.run)
        self._offsets = {
            key_of(head): offset
            for offset, raw in whole_lines(self._path)
            if (head := checked(self._path, offset, raw, parse_head))["k"] == "answer"
        }

    def answer(self, key: Key, digest: str) -> Line | None:
        """Return the answer of the same request at the same place as a line of this run, or None."""
        offset = self._offsets.get(key)
        if offset is None:
            return None
        line = self._read(offset)
        if line["h"] != digest:
            return None
        line.pop("batch", None)
        return {**line, "n": 1, "usd": "0", "queued": 0.0, "took": 0.0, "seeded": self.run}

    def _read(self, offset: int) -> dict[str, Any]:
        with self._path.open("rb") as file:
            file.seek(offset)
            return decode(file.readline())

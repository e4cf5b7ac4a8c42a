"""Answers taken over from an older run: the way on after prompts, data or code changed.

A question takes over the old answer when the same request (by its hash: bytes, provider, account, repeat) was answered
at the same place. What changed is asked anew, and so is everything that follows from it. An answer that was taken over
costs this run nothing and says where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..folder.binding import JOURNAL, require_journal
from ..folder.manifest import Manifest
from ..journal import Key, Line, key_of
from ..journal.codec import decode, parse_head
from ..journal.logfile import checked, whole_lines
from ..shards.folder import shards_of


class Seed:
    """The answers of the run in `folder`, by place; only where they stand stays in memory.

    Raises ConfigurationError when the folder holds no run, and RunError when its journal is gone, damaged or another's.
    """

    def __init__(self, folder: Path) -> None:
        manifest = Manifest.load(folder)
        self.run = manifest.run
        self._places = {
            key_of(head): (journal, offset)
            for journal in self._journals(folder, manifest)
            for offset, raw in whole_lines(journal)
            if (head := checked(journal, offset, raw, parse_head))["k"] == "answer"
        }

    @staticmethod
    def _journals(folder: Path, manifest: Manifest) -> Iterator[Path]:
        """Yield the run's journal, or its shards', of which each must be its own manifest's."""
        for part in shards_of(folder, manifest) or [folder]:
            require_journal(part, Manifest.load(part).run)
            yield part / JOURNAL

    def answer(self, key: Key, digest: str) -> Line | None:
        """Return the answer of the same request at the same place as a line of this run, or None."""
        if key not in self._places:
            return None
        line = self._read(*self._places[key])
        if line["h"] != digest:
            return None
        line.pop("batch", None)
        return {**line, "n": 1, "usd": "0", "queued": 0.0, "took": 0.0, "seeded": self.run}

    def _read(self, journal: Path, offset: int) -> dict[str, Any]:
        with journal.open("rb") as file:
            file.seek(offset)
            return checked(journal, offset, file.readline(), decode)

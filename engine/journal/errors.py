"""What can go wrong with a journal.

JournalError         the run cannot go on with it
├── DamagedJournal   a line on disk is not what was written, or not what we write; names it
├── DuplicateKey     a second line claims a place that can be filled only once; names both bytes
└── JournalStopped   the disk refused a write, or the journal is closed; what was durable before is safe
    └── JournalGone  its file was removed while it was written; nothing of it is safe
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..errors import RunError

_BLOCK: Final = 1 << 20


class JournalError(RunError):
    """The journal cannot be read or written any further."""


class DamagedJournal(JournalError):
    """The line that starts at byte `offset` is not what was written there, or not what turntide writes."""

    def __init__(self, path: Path, offset: int, reason: str) -> None:
        super().__init__(
            f"{path}: line {_number(path, offset)}, at byte {offset}, is damaged ({reason}). "
            f"Restore the file from a copy, or start a new run; nothing was changed."
        )
        self.offset = offset


class DuplicateKey(JournalError):
    """The lines at bytes `first` and `second` claim the same place."""

    def __init__(self, path: Path, what: str, first: int, second: int) -> None:
        super().__init__(f"{path}: {what} stands at byte {first} and, once more, at byte {second}")
        self.first = first
        self.second = second


class JournalStopped(JournalError):
    """No line is taken any more; what was reported durable before is on disk."""


class JournalGone(JournalStopped):
    """The file was removed while it was written: what it held is lost."""


def _number(path: Path, offset: int) -> int:
    """Return the number of the line that starts at `offset`, as editors count."""
    with path.open("rb") as file:
        whole, rest = divmod(offset, _BLOCK)
        return 1 + sum(file.read(_BLOCK).count(b"\n") for _ in range(whole)) + file.read(rest).count(b"\n")

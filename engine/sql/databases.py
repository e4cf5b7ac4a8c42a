"""What must be true of a database file before, and still after, a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from ...adapters.base import ConfigurationError
from ..system.digests import file_digest

MAGIC: Final = b"SQLite format 3\0"
"""What every SQLite file begins with."""


def is_database(path: Path) -> bool:
    """Tell whether a file, which is there, begins as a SQLite file does."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def refuse_unclean(path: Path) -> None:
    """Raise ConfigurationError unless `path` is a SQLite database that nobody is in the middle of writing.

    A `-wal` or `-journal` beside it may hold part of its content, which a connection to the immutable file never sees.
    """
    if not path.is_file():
        raise ConfigurationError(f"{path}: no such database file")
    if not is_database(path):
        raise ConfigurationError(f"{path}: not a SQLite database")
    for suffix in ("-wal", "-journal"):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            raise ConfigurationError(
                f"{path}: {beside.name} stands beside it, so it is in use or was not closed. "
                f"Close what writes to it, or open and close it once with sqlite3."
            )


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file's entry says of it: any write to the file, also one whose time was set back, leaves another.

    Of a file that is gone, every number is 0.
    """

    node: int = 0
    size: int = 0
    modified: int = 0
    changed: int = 0

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the stamp of the file at `path`; times are in nanoseconds."""
        try:
            entry = path.stat()
        except OSError:
            return cls()
        return cls(entry.st_ino, entry.st_size, entry.st_mtime_ns, entry.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class Content:
    """A file's content by its digest, and the stamp that it had before it was read."""

    stamp: Stamp
    digest: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read the file at `path`. It blocks."""
        stamp = Stamp.of(path)
        return cls(stamp, file_digest(path))

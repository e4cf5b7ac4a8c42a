"""The journal's bytes on disk: whole lines, a torn tail, and groups that are written entirely or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ..system.files import sync_folder
from .codec import Fields, parse
from .errors import DamagedJournal
from .kinds import require_record
from .links import FIRST, SIZE, follows, intact, links

_BLOCK = 1 << 16
_USUAL_LINE = 1 << 13
_CHANGED = "its checksum does not match"
_MOVED = "it was not written after the line before it: one is missing, stands twice or moved"


def whole_lines(path: Path, start: int = 0, last: bytes = FIRST) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, bytes with newline) of each whole line, from the one at `start` on, after one of checksum `last`.

    A tail without newline, torn or still growing, ends it. Raises DamagedJournal, once the lines before it were taken,
    at one that is not as it was written, or was not written after the one before it.
    """
    offset = start
    with path.open("rb", buffering=_BLOCK) as file:
        file.seek(start)
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            checksum = follows(raw, last)
            if checksum is None:
                raise DamagedJournal(path, offset, _MOVED if intact(raw) else _CHANGED)
            yield offset, raw
            offset += len(raw)
            last = checksum


def checked(
    path: Path,
    offset: int,
    raw: bytes,
    read: Callable[[bytes], Fields] = parse,
    record: type[Struct] | None = None,
) -> Fields:
    """Return what `read` makes of the line at `offset`.

    Raises DamagedJournal when it cannot be read, or holds a record of another form than `record`.
    """
    try:
        line = read(raw)
        require_record(line, record)
        return line
    except ValueError as error:
        raise DamagedJournal(path, offset, str(error)) from error


class LogFile:
    """A file that grows by groups of lines. Offsets are in bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        sync_folder(path.parent)

    def whole_end(self) -> int:
        """Return where the last whole line ends: a torn tail begins there."""
        end = os.fstat(self._descriptor).st_size
        while end:
            start = max(0, end - _BLOCK)
            newline = os.pread(self._descriptor, end - start, start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
        return 0

    def last_checksum(self, end: int) -> bytes:
        """Return the checksum of the line that ends at `end`."""
        return links(os.pread(self._descriptor, min(SIZE, end), max(0, end - SIZE)))[1] if end else FIRST

    def cut(self, end: int) -> None:
        """Move what stands after `end` to a `.torn` file beside this one, and end this one there."""
        size = os.fstat(self._descriptor).st_size
        if size == end:
            return
        with self.path.with_suffix(".torn").open("ab") as torn:
            for start in range(end, size, _BLOCK):
                torn.write(os.pread(self._descriptor, min(_BLOCK, size - start), start))
            torn.write(b"\n")
            torn.flush()
            os.fsync(torn.fileno())
        sync_folder(self.path.parent)
        os.ftruncate(self._descriptor, end)
        os.fsync(self._descriptor)

    def extend(self, end: int, group: bytes | bytearray) -> None:
        """Put `group` at `end` and on disk, or raise OSError with the file cut back to `end`.

        FileNotFoundError says that the file was removed: what is written to it goes with its descriptor.
        A failed fdatasync is not tried again: the kernel may have dropped the pages and would then report success.
        """
        try:
            self._write(group, end)
            self._sync()
            self._require_name()
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, end)
            raise

    def _write(self, group: bytes | bytearray, end: int) -> None:
        written = os.pwrite(self._descriptor, group, end)
        if written != len(group):
            raise OSError(errno.ENOSPC, f"only {written} of {len(group)} bytes were written")

    def _sync(self) -> None:
        os.fdatasync(self._descriptor)

    def _require_name(self) -> None:
        if os.fstat(self._descriptor).st_nlink == 0 and not self.path.exists():  # some file systems count no links
            raise FileNotFoundError(errno.ENOENT, "the file was removed")

    def line_at(self, offset: int) -> bytes:
        """Return the line that starts at `offset`, with its newline."""
        raw = os.pread(self._descriptor, _USUAL_LINE, offset)
        while (newline := raw.find(b"\n")) < 0:
            more = os.pread(self._descriptor, len(raw), offset + len(raw))
            if not more:
                raise EOFError("the file ends within it")
            raw += more
        return raw[: newline + 1]

    def close(self) -> None:
        """Close the file; may be repeated."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

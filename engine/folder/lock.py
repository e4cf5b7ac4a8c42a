"""One process per run folder: the kernel holds the lock, the lock's file says who asked for it."""

from __future__ import annotations

import errno
import os
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from types import TracebackType
from typing import Final

import msgspec

from ...adapters.base import ConfigurationError
from ..system.files import require_no_links, require_plain, usable

LOCK: Final = "lock"
_ROOM = 4096
_NAMED_WITHIN = 0.5
"""Seconds in which a process that took the lock has written its name, and in which a glance at the lock is over."""
_LOOK_AGAIN = 0.01
_OWN = 0o700
"""The mode of a new run folder: prompts, answers and rows of the databases are its owner's to show."""


class Holder(msgspec.Struct, frozen=True):
    """The process that holds a run folder; `since` is in UTC."""

    pid: int
    host: str
    since: str

    @classmethod
    def here(cls) -> Holder:
        """Describe this process."""
        return cls(pid=os.getpid(), host=socket.gethostname(), since=datetime.now(UTC).isoformat(timespec="seconds"))

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


class FolderInUse(ConfigurationError):
    """Another process holds the run folder; `holder` is None when it has not written its name."""

    def __init__(self, folder: Path, holder: Holder | None) -> None:
        who = str(holder) if holder else "a process that has just started"
        advice = (
            "That process is gone, but one that it started still holds the lock: end it"
            if holder and _gone(holder)
            else "Wait for it"
        )
        super().__init__(f"{folder} is in use by {who}. {advice}, or choose another folder.")
        self.holder = holder


class RunLock:
    """Holds `folder`, made if need be, for the length of a `with` block.

    Entering gives the holder that died without letting go, if there was one: the kernel lets go when a holder dies,
    however it dies. Raises FolderInUse at once when a living process is named in the lock, within half a second when
    none is, and ConfigurationError when the folder cannot be written, or holds symbolic links.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = -1

    def __enter__(self) -> Holder | None:
        require_no_links(self._folder)
        require_plain(self._folder, [LOCK])
        descriptor = _open(self._folder)
        try:
            _take(descriptor, self._folder)
            predecessor = _read(descriptor)
            _write(descriptor, self._folder, Holder.here())
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return predecessor

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def holder(folder: Path) -> Holder | None:
    """Return the process that holds `folder` now, without disturbing it; None when nobody does."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        named = _read(descriptor)
        return named if named and _held(descriptor) else None
    finally:
        os.close(descriptor)


def _held(descriptor: int) -> bool:
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _open(folder: Path) -> int:
    with usable(folder):
        folder.mkdir(_OWN, parents=True, exist_ok=True)
        return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _take(descriptor: int, folder: Path) -> None:
    until = time.monotonic() + _NAMED_WITHIN
    while not _taken(descriptor, folder):
        # A holder takes the lock first and then writes its name: until it has, the file is empty or names a dead one.
        named = _read(descriptor)
        if (named and not _gone(named)) or time.monotonic() > until:
            raise FolderInUse(folder, named)
        time.sleep(_LOOK_AGAIN)


def _taken(descriptor: int, folder: Path) -> bool:
    with usable(folder), suppress(BlockingIOError):
        flock(descriptor, LOCK_EX | LOCK_NB)
        return True
    return False


def _read(descriptor: int) -> Holder | None:
    try:
        return msgspec.json.decode(os.pread(descriptor, _ROOM, 0), type=Holder)
    except msgspec.DecodeError:
        return None


def _write(descriptor: int, folder: Path, holder: Holder) -> None:
    with usable(folder):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(holder) + b"\n", 0)


def _gone(holder: Holder) -> bool:
    """Tell that the holder ran on this host and does not any more."""
    if holder.host != socket.gethostname():
        return False
    try:
        os.kill(holder.pid, 0)
    except OSError as error:
        return error.errno == errno.ESRCH
    return False

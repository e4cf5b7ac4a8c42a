"""The one writer of a journal: lines gather while the disk works, and go out as one group with one fdatasync."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from .errors import JournalGone, JournalStopped
from .logfile import LogFile

WAKE: Final = 32
"""Waiters that are woken in one tick of the loop."""


def at_once() -> float:
    """Linger not at all."""
    return 0.0


@dataclass(frozen=True, slots=True)
class Statistics:
    """What this writer has made durable (lines per group is what the linger buys), and how many wait for the disk."""

    lines: int
    groups: int
    bytes: int
    waiting: int


class Writer:
    """Appends in the order of the calls; the disk is touched by a thread of its own, never by the event loop.

    `linger` gives the seconds that a group waits for company before it goes out. All methods belong to the event
    loop's thread. Nothing here is a task, so no cancellation can reach a write that has begun.
    """

    def __init__(self, file: LogFile, end: int, linger: Callable[[], float] = at_once) -> None:
        self._file = file
        self._linger = linger
        self._durable = end
        self._flying = bytearray()
        self._buffer = bytearray()
        self._work: Future[None] | None = None
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._scheduled = False
        self._waking = False
        self._stopped: JournalStopped | None = None
        self._lines = self._groups = self._bytes = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    @property
    def end(self) -> int:
        """The offset of the next line."""
        return self._durable + len(self._flying) + len(self._buffer)

    def check(self) -> None:
        """Raise JournalStopped when no more lines are taken."""
        if self._stopped:
            raise _anew(self._stopped)

    def append(self, raw: bytes) -> None:
        """Put an encoded line at the end, in memory."""
        self.check()
        self._buffer += raw
        self._lines += 1

    async def durable(self) -> None:
        """Wait until all that was appended before this call is on disk; raises JournalStopped when it cannot be.

        A waiter that is cancelled leaves; its lines are written all the same.
        """
        self.check()
        if self.end == self._durable:
            return
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiting.append((self.end, waiter))
        self._schedule(loop)
        await waiter

    def line_at(self, offset: int) -> bytes:
        """Return the line that starts at `offset`, also one that is not on disk yet."""
        if offset < self._durable:
            return self._file.line_at(offset)
        self.check()
        start = offset - self._durable
        group = self._flying
        if start >= len(group):
            start, group = start - len(group), self._buffer
        return bytes(group[start : group.index(b"\n", start) + 1])

    @property
    def size(self) -> int:
        """Bytes that are on disk."""
        return self._durable

    def statistics(self) -> Statistics:
        """Return the counts so far."""
        return Statistics(self._lines, self._groups, self._bytes, len(self._waiting))

    def close(self) -> None:
        """Write what is left and take no more; blocks for that last group, and works without a running loop.

        Raises JournalStopped when the last lines could not be written.
        """
        was_stopped = self._stopped
        while self._work or (self._buffer and not self._stopped):
            self._work = self._work or self._submit()
            wait([self._work])
            self._settle(self._work)
        self._thread.shutdown()
        if self._stopped and not was_stopped:
            self.check()
        self._stopped = self._stopped or JournalStopped(f"{self._file.path}: the journal is closed")

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._scheduled and not self._work:
            self._scheduled = True
            loop.call_later(self._linger(), self._launch, loop)

    def _launch(self, loop: asyncio.AbstractEventLoop) -> None:
        self._scheduled = False
        if self._work or self._stopped or not self._buffer:
            return
        self._work = self._submit()
        self._work.add_done_callback(lambda work: self._call_home(loop, work))

    def _submit(self) -> Future[None]:
        self._flying, self._buffer = self._buffer, bytearray()
        return self._thread.submit(self._file.extend, self._durable, self._flying)

    def _call_home(self, loop: asyncio.AbstractEventLoop, work: Future[None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: close() will settle it
            loop.call_soon_threadsafe(self._land, work)

    def _land(self, work: Future[None]) -> None:
        if work is not self._work:
            return  # close() was faster
        self._settle(work)
        if self._waiting:
            self._schedule(self._waiting[0][1].get_loop())

    def _settle(self, work: Future[None]) -> None:
        self._work = None
        if error := work.exception():
            self._stop(error)
            return
        self._durable += len(self._flying)
        self._bytes += len(self._flying)
        self._groups += 1
        self._flying = bytearray()
        if not self._waking:
            self._wake_some()

    def _wake_some(self) -> None:
        """Wake the waiters whose lines are on disk, a few dozen per loop tick: a thousand at once would all send, or
        all go on, in the same tick, and hold the loop for as long as that takes."""
        self._waking = False
        for _ in range(WAKE):
            if not self._waiting or self._waiting[0][0] > self._durable:
                return
            _wake(self._waiting.popleft()[1], None)
        if self._waiting and not (loop := self._waiting[0][1].get_loop()).is_closed():
            self._waking = True
            loop.call_soon(self._wake_some)

    def _stop(self, error: BaseException) -> None:
        self._flying, self._buffer = bytearray(), bytearray()
        self._stopped = self._told(error)
        while self._waiting:
            _wake(self._waiting.popleft()[1], _anew(self._stopped))

    def _told(self, error: BaseException) -> JournalStopped:
        path = self._file.path
        if isinstance(error, FileNotFoundError):
            return JournalGone(
                f"{path} was removed while the run went on, and with it every answer; the run has stopped. "
                f"Restore the folder from a copy and resume it, or start a new run."
            )
        return JournalStopped(
            f"{path}: writing stopped ({error}). All up to byte {self._durable} is safe; "
            f"make room or repair the disk, then resume."
        )


def _anew(error: JournalStopped) -> JournalStopped:
    """Return an error of its own for each who is told: a traceback belongs to one raise."""
    return type(error)(*error.args)


def _wake(waiter: asyncio.Future[None], error: JournalStopped | None) -> None:
    if waiter.done() or waiter.get_loop().is_closed():
        return
    if error:
        waiter.set_exception(error)
    else:
        waiter.set_result(None)

"""What commands print to: any encoding, closed streams, full disks, and pipes whose reader goes away."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing_extensions import Buffer

NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)
"""Errors of a place that takes no more, such as a full disk: the user's to mend, not bugs."""

_abandoned: Final[set[int]] = set()


class Pipe(io.FileIO):
    """A pipe whose reader may go away (`turntide compare ... | head -3`).

    What is written after that goes nowhere, and the command comes to its own end: its exit code is its verdict, also
    for those who have read enough.
    """

    def write(self, data: Buffer, /) -> int:
        """Write as much as the pipe takes; all of it once nobody reads."""
        try:
            return super().write(data)
        except BrokenPipeError:
            abandon(self.fileno())
            return memoryview(data).nbytes


def open_streams() -> None:
    """Make stdout and stderr take whatever is printed.

    Closed ones (`>&-`) take nothing, narrow encodings a `?` for a sign, pipes that nobody reads any more everything.
    """
    # No file of ours may get the number of a closed stream: what a library prints would end in it.
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(spare, True)
    os.close(spare)
    for name, number, own in (("stdout", 1, sys.__stdout__), ("stderr", 2, sys.__stderr__)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 - for good
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
            if stream is own and _is_pipe(number):
                stream.flush()
                setattr(sys, name, _patient(number, stream.encoding))


def abandon(number: int) -> None:
    """Let what is still written to this file go nowhere, so that Python does not stumble over it when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
    _abandoned.add(number)


def is_read() -> bool:
    """Tell whether somebody may still read what is printed: not once stdout's reader has gone."""
    return 1 not in _abandoned


def _is_pipe(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _patient(number: int, encoding: str) -> io.TextIOWrapper:
    pipe = io.BufferedWriter(Pipe(number, "wb", closefd=False))
    return io.TextIOWrapper(pipe, encoding=encoding, errors="replace", line_buffering=number == 2, newline="\n")

"""Forks SQL workers on request. Started with `python -m` and the limits as JSON, its control socket as standard input.

The workers' modules are loaded here once, so that a new worker is there in milliseconds. It is not
`multiprocessing`'s fork server because that one imports the caller's `__main__` into every worker (a script without a
guard would run again, one with heavy imports would make each replacement slow), brings a resource tracker along, and
neither can be stopped before the interpreter ends. The protocol is one `ORDER` in either direction:

    from the pool    (FORK, 0) with the worker's socket attached; (KILL, pid)
    to the pool      (pid, wait status) of every worker that ended

Only this process signals its children, and only before it has reaped them, so a kill never hits a reused process id.
It ends, and all workers with it, when the pool's end of the control socket closes, for whatever reason it does.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
from types import FrameType
from typing import NoReturn

import msgspec

from . import worker
from .bounds import SqlLimits
from .frames import FORK, ORDER


def serve(control: socket.socket, limits: SqlLimits) -> NoReturn:
    """Fork and kill as `control` says until it closes."""
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, _wake)
    gc.freeze()
    children: set[int] = set()
    while True:
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            os.read(wake, 4_096)
            _report_ended(control, children)
        if control in ready:
            verb, pid, descriptors = _receive(control, children)
            if verb == FORK:
                children.add(_fork(control, (wake, woken), descriptors[0], limits))
            elif pid in children:
                os.kill(pid, signal.SIGKILL)


def _wake(signum: int, frame: FrameType | None) -> None:
    """Let SIGCHLD be delivered, which writes to the wake-up pipe."""


def _receive(control: socket.socket, children: set[int]) -> tuple[int, int, list[int]]:
    message = b""
    descriptors: list[int] = []
    with contextlib.suppress(ConnectionError):  # the pool's end closed while it still had reports to read
        message, descriptors, _, _ = socket.recv_fds(control, ORDER.size, 1)
    if not message:
        _end(children)
    verb, pid = ORDER.unpack(message)
    return verb, pid, descriptors


def _fork(control: socket.socket, pipe: tuple[int, int], descriptor: int, limits: SqlLimits) -> int:
    pid = os.fork()
    if pid == 0:
        _become_worker(control, pipe, descriptor, limits)
    os.close(descriptor)
    return pid


def _become_worker(control: socket.socket, pipe: tuple[int, int], descriptor: int, limits: SqlLimits) -> NoReturn:
    # Nothing of ours is kept: an end of `control` in a worker's hands would hide our own death from the pool.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for end in pipe:
        os.close(end)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, control.fileno())
    os.close(null)
    worker.main(socket.socket(fileno=descriptor), limits)


def _report_ended(control: socket.socket, children: set[int]) -> None:
    for child in list(children):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            children.discard(pid)
            with contextlib.suppress(ConnectionError):  # the pool is gone, and we are next
                control.sendall(ORDER.pack(pid, status))


def _end(children: set[int]) -> NoReturn:
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)
    os._exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=0), msgspec.json.decode(sys.argv[1], type=SqlLimits))

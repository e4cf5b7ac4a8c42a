"""The pool's side of its processes: the fork server, and one worker at the end of a socket."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from .bounds import SqlLimits
from .frames import FORK, KILL, ORDER, Frames

START_DEADLINE = 30.0
"""Seconds within which a worker must be there; on an idle machine the first takes about 0.2, others 0.02."""


class SqlPoolError(RuntimeError):
    """The pool, not a statement, is at fault."""


class WorkerDied(Exception):
    """The worker's socket closed before its answer came."""


class ForkServer:
    """The process that all workers are forked from; see `forkserver`. Create it inside a running loop.

    `lost` is called when it is gone without having been closed, and with it the power to kill and replace its workers.
    """

    def __init__(self, limits: SqlLimits, *, lost: Callable[[], None]) -> None:
        self._lost = lost
        self._ended: dict[int, asyncio.Future[int]] = {}
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", f"{__package__}.forkserver", msgspec.json.encode(limits).decode()],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                # Ctrl-C is for the run, which wants to finish what it has begun.
                start_new_session=True,
                # An arena for each thread would count 128 MB each against the bound on address space.
                env=os.environ | {"MALLOC_ARENA_MAX": "1"},
            )
        self._control.setblocking(False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._control, self._read_ended)

    def fork(self, channel: socket.socket) -> None:
        """Start a worker at the other end of `channel`."""
        try:
            socket.send_fds(self._control, [ORDER.pack(FORK, 0)], [channel.fileno()])
        except OSError as error:
            raise SqlPoolError("the fork server of the SQL workers is gone") from error

    def kill(self, pid: int) -> None:
        """Kill a worker, now."""
        with contextlib.suppress(OSError):  # gone, and its workers with it
            self._control.send(ORDER.pack(KILL, pid))

    def watch(self, pid: int) -> asyncio.Future[int]:
        """Return a future of the wait status with which the worker `pid` ends."""
        return self._ended.setdefault(pid, self._loop.create_future())

    def close(self) -> None:
        """End the fork server and every worker, and wait for it: milliseconds, as they are killed."""
        self._loop.remove_reader(self._control)
        self._control.close()
        self._process.wait()

    def _read_ended(self) -> None:
        try:
            message = self._control.recv(ORDER.size)
        except OSError:
            message = b""
        if not message:
            self._loop.remove_reader(self._control)
            self._lost()
            return
        pid, status = ORDER.unpack(message)
        ended = self._ended.pop(pid, None)
        if ended is not None and not ended.done():
            ended.set_result(status)


class Worker:
    """One worker process. It is asked one thing at a time."""

    def __init__(self, server: ForkServer) -> None:
        self.pid = 0
        self.alive = True
        self.server = server
        self._frames = Frames(received=self._receive, lost=self._lose)
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._ended: asyncio.Future[int] | None = None

    @classmethod
    async def start(cls, server: ForkServer) -> Worker:
        """Fork a worker and return it once it is ready. Raises SqlPoolError."""
        worker = cls(server)
        ours, theirs = socket.socketpair()
        with theirs:
            await asyncio.get_running_loop().create_connection(lambda: worker._frames, sock=ours)
            server.fork(theirs)
        try:
            async with asyncio.timeout(START_DEADLINE):
                worker.pid = orjson.loads(await worker._answer)["ready"]
        except (TimeoutError, WorkerDied) as error:
            worker.close()
            raise SqlPoolError("an SQL worker did not start") from error
        worker._ended = server.watch(worker.pid)
        return worker

    async def ask(self, request: bytes, patience: float) -> dict[str, Any]:
        """Return the answer to `request`. Raises TimeoutError after `patience` seconds, and WorkerDied."""
        self._answer = asyncio.get_running_loop().create_future()
        self._frames.send(request)
        # Unlike `asyncio.timeout`, this takes an answer that came while the loop was held up for an answer.
        await asyncio.wait([self._answer], timeout=patience)
        if not self._answer.done():
            raise TimeoutError
        return orjson.loads(self._answer.result())

    async def fate(self) -> str:
        """Return how the worker, which is dead or dying, came to its end: the name of a signal, or its exit code."""
        try:
            async with asyncio.timeout(1.0):
                code = os.waitstatus_to_exitcode(await self._ended) if self._ended else 0
        except TimeoutError:
            return "an unknown cause"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def kill(self) -> None:
        """End the process at once; whatever it was asked is never answered."""
        self.server.kill(self.pid)
        self.close()

    def close(self) -> None:
        """Close the socket, on which the worker ends by itself."""
        self.alive = False
        self._frames.close()

    def _receive(self, frame: bytes) -> None:
        if not self._answer.done():
            self._answer.set_result(frame)

    def _lose(self) -> None:
        self.alive = False
        if not self._answer.done():
            self._answer.set_exception(WorkerDied())
            self._answer.exception()  # looked at, so that nobody need wait for it

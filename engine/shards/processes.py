"""A crew of plain processes on this machine, one for each shard."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec

from ...adapters.child import first_line, until_orphaned
from ..errors import Unfinished
from ..watch.live import Live
from ..watch.summary import EXIT_CODES
from .worker import STOPPED, Ended, Job, work

RESTARTS: Final = 3
"""How often a shard whose process was killed is begun again: each time it goes on from its journal."""

MODULE: Final = "turntide.engine.shards"

GONE: Final = "the process that ran the shards is gone; the same command goes on from here"

LAST_MOMENT: Final = 0.7
"""Seconds in which a shard whose run is gone writes down what came; then it ends as it is."""


class Processes:
    """Runs each shard in a process of its own. It reads its job from stdin, and ends when that ends: with this one."""

    def __init__(self) -> None:
        self._running: set[asyncio.subprocess.Process] = set()
        self._killed = False

    async def __aenter__(self) -> Processes:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.kill()

    async def run(self, job: Job) -> Ended:
        """Run a shard to its end, in another process whenever one is killed."""
        ended = Ended(1)
        for _ in range(1 + RESTARTS):
            ended = await self._once(job)
            if ended.code >= 0:
                break
            if self._killed:
                return STOPPED
        return ended

    def kill(self) -> None:
        """End all processes now; what came is on disk."""
        self._killed = True
        for process in self._running:
            with suppress(ProcessLookupError):
                process.kill()

    async def _once(self, job: Job) -> Ended:
        # A session of its own, so that a terminal's Ctrl-C reaches it through Redis only, and calls in flight can land.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", MODULE),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin
        assert process.stdout
        self._running.add(process)
        if self._killed:  # while it was started
            process.kill()
        try:
            process.stdin.write(msgspec.json.encode(job) + b"\n")
            said = await process.stdout.read()
            code = await process.wait()
        finally:
            self._running.discard(process)
        try:
            return msgspec.json.decode(said.splitlines()[-1], type=Ended)
        except (IndexError, msgspec.DecodeError):
            return Ended(code or 1, f"its process ended with {code} and without a word")


def child() -> int:
    """Be the process of one shard: a job on stdin, how it ended on stdout."""
    line = first_line(sys.stdin.fileno())
    if not line.endswith(b"\n"):  # who gave it is gone already
        return EXIT_CODES["interrupted"]
    lifeline = Lifeline()
    lifeline.start()
    try:
        ended = work(msgspec.json.decode(line, type=Job), lifeline.observe)
    except asyncio.CancelledError:
        return EXIT_CODES["interrupted"]
    with suppress(OSError):
        os.write(sys.stdout.fileno(), msgspec.json.encode(ended) + b"\n")
    return 0


class Lifeline(threading.Thread):
    """Ends this process when the one that gave it its job is gone: nobody else could.

    It ends as by a second Ctrl-C: what is on the wire is cancelled, and stays exposed by the journal. A thread watches,
    since the loop is held while a benchmark is opened; nothing is sent then, and it ends as it is.
    """

    def __init__(self) -> None:
        super().__init__(name="lifeline", daemon=True)
        self._end: Callable[[], object] | None = None

    def observe(self, live: Live) -> None:
        """From now on there is something to be ended."""
        loop, shard = asyncio.get_running_loop(), asyncio.current_task()
        assert shard

        def end() -> None:
            live.closing.begin(Unfinished("draining", GONE))
            shard.cancel()

        self._end = partial(loop.call_soon_threadsafe, end)

    def run(self) -> None:
        """Watch stdin, on which nothing more is said: it ends with its other side."""
        with suppress(OSError):
            until_orphaned(sys.stdin.fileno())
        if self._end:
            with suppress(RuntimeError):  # the loop has ended by itself
                self._end()
            time.sleep(LAST_MOMENT)
        os._exit(EXIT_CODES["interrupted"])

"""A crew of plain processes on this machine, one for each shard."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import Final

import msgspec

from ..errors import Unfinished
from ..watch.live import Live
from .worker import Ended, Job, work

RESTARTS: Final = 3
"""How often a shard whose process was killed is begun again: each time it goes on from its journal."""

MODULE: Final = "turntide.engine.shards"


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
            if ended.code >= 0 or self._killed:
                break
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
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)

    def observe(live: Live) -> None:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _watch, live)

    ended = work(job, observe)
    print(msgspec.json.encode(ended).decode(), flush=True)
    return 0


def _watch(live: Live) -> None:
    """End, resumable, when the process that gave the job is gone."""
    if not os.read(sys.stdin.fileno(), 1):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        live.closing.begin(Unfinished("draining", "the process that runs the shards is gone; resume the run"))

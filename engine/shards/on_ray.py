"""A crew of Ray's workers: on this machine, or on the cluster that `RAY_ADDRESS` names."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import Any, Final

from ...adapters.base import ConfigurationError
from ..watch.summary import EXIT_CODES
from .processes import RESTARTS
from .worker import STOPPED, Ended, Job, work

ADDRESS: Final = "RAY_ADDRESS"
"""Ray's own variable: the cluster to use. Without it, Ray is started here, for the length of the run."""

STORE_BYTES: Final = 80 * 2**20
"""Ray's store for objects, which nothing of ours uses: about the least that it accepts."""

TASK: Final = "turntide shard"
"""What Ray shows a shard's task as, before its number: in its tables, and as the title of the worker's process."""

LOOK: Final = 2.0
"""Seconds between two looks at whether a Ray of our own lives; its own GCS takes some 15 s to count a node as dead."""

DIED: Final = "Ray, which was started for this run, has died; the same command goes on from here"

_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # makes a Ray that is started here listen on loopback, on Linux as well
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the coming default, which Ray otherwise warns of
}

Untyped = Any
"""What Ray's own annotations are of no help with."""


class RayCrew:
    """Runs each shard as a task of Ray, which begins it again in another worker when its worker dies."""

    def __init__(self, shards: int) -> None:
        self._shards = shards
        self._tasks: dict[int, Untyped] = {}
        self._killed = False
        self._dead = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> RayCrew:
        os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
        try:
            self._ray: Untyped = import_module("ray")
        except ImportError:
            raise ConfigurationError("--on ray needs Ray: pip install 'turntide[ray]'.") from None
        self._start()  # Ray starts in the main thread only; for these seconds nothing else is under way
        self._work: Untyped = self._ray.remote(num_cpus=1, max_retries=RESTARTS, scheduling_strategy="SPREAD")(work)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watching:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        self._ray.shutdown()

    async def run(self, job: Job) -> Ended:
        """Run a shard to its end; Ray begins it again when its worker dies."""
        task = self._tasks[job.index] = self._work.options(name=f"{TASK} {job.index}").remote(job)
        came, dead = asyncio.ensure_future(self._result(task)), asyncio.create_task(self._dead.wait())
        try:
            await asyncio.wait({came, dead}, return_when=asyncio.FIRST_COMPLETED)
            return await came if came.done() else Ended(EXIT_CODES["incomplete"], DIED)
        finally:
            came.cancel()
            dead.cancel()

    async def _result(self, task: Untyped) -> Ended:
        try:
            return await task
        except asyncio.CancelledError:
            raise
        except Exception as error:  # Ray's own, and those of a shard's code, which it wraps
            if self._killed:
                return STOPPED
            ours = isinstance(error, self._ray.exceptions.RayTaskError)
            told = f"{type(error).__name__}: {error}"
            return Ended(EXIT_CODES["failed"], told) if ours else Ended(EXIT_CODES["incomplete"], f"Ray failed: {told}")

    def kill(self) -> None:
        """End all workers now; what came is on disk."""
        self._killed = True
        for task in self._tasks.values():
            self._ray.cancel(task, force=True)

    def _start(self) -> None:
        quiet: dict[str, Any] = {"configure_logging": False, "log_to_driver": False}
        if os.environ.get(ADDRESS):
            self._ray.init(**quiet)
        else:
            self._ray.init(
                num_cpus=self._shards, num_gpus=0, object_store_memory=STORE_BYTES, include_dashboard=False, **quiet
            )
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Notice when the one node of a Ray of our own dies: its tasks would wait for another one for ever.

        On a cluster there are others, and Ray begins tasks again there.
        """
        while True:
            await asyncio.sleep(LOOK)
            nodes: list[dict[str, Any]] = await asyncio.to_thread(self._ray.nodes)
            if not any(node["Alive"] for node in nodes):
                self._dead.set()
                return

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
        self._ray.shutdown()

    async def run(self, job: Job) -> Ended:
        """Run a shard to its end; Ray begins it again when its worker dies."""
        task = self._tasks[job.index] = self._work.options(name=f"{TASK} {job.index}").remote(job)
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

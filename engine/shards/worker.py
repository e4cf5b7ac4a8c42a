"""One shard at work, in whatever process a crew gave it: from a job to how it ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from ...adapters.base import ConfigurationError
from ..errors import RunError
from ..registry import benchmark_of
from ..run import execute
from ..spec import Spec
from ..system.loop import allow_files, run_loop
from ..until import Until
from ..watch.live import Live
from ..watch.summary import EXIT_CODES
from .commons import Commons, cap_of, in_time
from .cut import Cut
from .folder import shard_folder
from .link import PATIENCE, ShardLink


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """All that a shard's process needs to know, wherever it runs. Keys are not in it: those are in its environment.

    `run` is the name of the whole in Redis, `redis` its URL, `cwd` where relative paths begin; `environ` is what the
    process that gave the job has in its environment besides: the addresses of servers that it started.
    """

    spec: Spec
    folder: str
    index: int
    run: str
    redis: str
    cwd: str
    environ: dict[str, str] = {}
    until: datetime | None = None


class Ended(msgspec.Struct, frozen=True):
    """How a shard's process ended, in the exit codes of a run.

    `summary` is what it came to (`Summary.to_json`); `message` says why there is none: what the user can mend, or how
    the process was lost. It is told, not read from the folder, since a full disk takes no summary.
    """

    code: int
    message: str = ""
    summary: dict[str, Any] | None = None


STOPPED: Final = Ended(
    EXIT_CODES["interrupted"],
    "stopped at once: calls that were on the wire count as exposed; the same command goes on from here",
)
"""The end of a shard that was not let to land its calls."""


def work(job: Job, observe: Callable[[Live], None] = lambda live: None) -> Ended:
    """Run one shard to its end, or to where it must stop."""
    os.chdir(job.cwd)
    allow_files()
    try:
        return run_loop(working(job, observe))
    except (ConfigurationError, RunError) as error:
        return Ended(EXIT_CODES["unusable"], str(error))


async def working(job: Job, observe: Callable[[Live], None] = lambda live: None) -> Ended:
    """Run one shard on the loop that runs."""
    spec = job.spec
    assert spec.shards
    async with AsyncExitStack() as stack:
        try:
            commons = Commons(await in_time(job.redis, PATIENCE), job.run)
        except ConfigurationError as gone:  # it was there when the run began
            return Ended(EXIT_CODES["incomplete"], str(gone))
        stack.push_async_callback(commons.aclose)
        experiment = await stack.enter_async_context(
            benchmark_of(spec.benchmark).open(spec.options, seed=spec.seed, limit=spec.limit)
        )
        share = ShardLink(commons, Cut(job.index, spec.shards), cap_of(spec.settings.max_cost))
        summary = await execute(
            spec,
            experiment,
            shard_folder(Path(job.folder), job.index),
            observe,
            {**os.environ, **job.environ},
            Until(job.until) if job.until else None,
            share,
        )
    return Ended(summary.exit_code, summary=summary.to_json())

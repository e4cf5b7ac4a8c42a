"""Starts a run that is cut into shards: who runs them, where they meet, what is shown, and the one summary of all."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...adapters.base import ConfigurationError, Json
from ..calls.routes import check_ways
from ..folder.lock import RunLock
from ..identity import folder_of, identity, settings_of
from ..registry import benchmark_of
from ..run import NOTHING_TO_RUN
from ..shards.commons import Commons, cap_of, connected, require_client
from ..shards.cut import dealt
from ..shards.fleet import Crew, Fleet
from ..shards.folder import PLAN, leave_word, open_whole
from ..shards.on_ray import RayCrew
from ..shards.processes import Processes
from ..shards.server import URL, meeting_place
from ..shards.worker import Job
from ..spec import Spec
from ..system.files import usable
from ..system.moments import utc_now
from ..watch.summary import Summary
from .servers import OwnServers
from .shards_summary import joined
from .show import PLAIN_SECONDS
from .words import clock
from .working import Working


class Planned(NamedTuple):
    """What is run, as the whole: its folder, what decides its requests, and what is set up around it.

    `plan` counts the dialogues of every shard, by model.
    """

    folder: Path
    identity: dict[str, Json]
    plan: Sequence[Mapping[str, int]]
    environ: Mapping[str, str]


async def launch_shards(spec: Spec, redis: str | None, until: datetime | None) -> Summary:
    """Run all shards of `spec` to their end, or to where they must stop; return what they came to together.

    Raises ConfigurationError and RunError as `engine.run.execute` does.
    """
    assert spec.shards
    began, cap = utc_now(), cap_of(spec.settings.max_cost)
    require_client("ray" if spec.settings.on == "ray" else "redis")
    async with AsyncExitStack() as stack:
        working = stack.enter_context(Working("opening the benchmark and its data"))
        planned = await _planned(spec, stack)
        working.on("looking for Redis")
        url = await stack.enter_async_context(meeting_place(redis or os.environ.get(URL), _say))
        client = await connected(url)
        stack.enter_context(RunLock(planned.folder))
        plan: list[Json] = [dict[str, Json](each) for each in planned.plan]
        with usable(planned.folder):
            manifest = open_whole(planned.folder, planned.identity, settings_of(spec) | {PLAN: plan}, spec.shards)
        commons = Commons(client, manifest.run)
        stack.push_async_callback(commons.aclose)
        working.on(f"starting {spec.shards} shards")
        crew: Crew = RayCrew(spec.shards) if spec.settings.on == "ray" else Processes()
        trouble = stack.enter_context(Trouble(planned.folder))
        crew = await stack.enter_async_context(crew)
        fleet = Fleet(commons, crew, planned.folder, spec.shards, cap, trouble.told)
        working.end()
        jobs = [
            Job(
                spec=spec,
                folder=str(planned.folder.absolute()),
                index=index,
                run=manifest.run,
                redis=url,
                cwd=str(Path.cwd()),
                environ=dict(planned.environ),
                until=until,
            )
            for index in range(spec.shards)
        ]
        async with _shown(fleet, planned.folder):
            ended = await fleet.run(jobs)
    return joined(planned.folder, ended, planned.plan, spec.settings.cap, began)


async def _planned(spec: Spec, stack: AsyncExitStack) -> Planned:
    """Open the benchmark once, for what must be known of the whole; start the servers that all shards use."""
    if spec.settings.batch:
        raise ConfigurationError("batches know no limits that shards could share: run them without --shards.")
    async with benchmark_of(spec.benchmark).open(spec.options, seed=spec.seed, limit=spec.limit) as experiment:
        servers = await stack.enter_async_context(OwnServers())
        environ = await servers.environ(model.id for model in (*spec.models, *experiment.auxiliary))
        await check_ways(spec, experiment.auxiliary, environ)
        assert spec.shards
        plan = dealt(experiment, (model.name for model in spec.models), spec.repeats, spec.shards)
        if not any(plan):
            raise ConfigurationError(NOTHING_TO_RUN)
        started = {name: value for name, value in environ.items() if os.environ.get(name) != value}
        return Planned(folder_of(spec, experiment), identity(spec, experiment), plan, started)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Trouble:
    """Tells those who look on, here and through `status`, what keeps all shards waiting, and when it is over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Trouble:
        leave_word(self._folder, "")  # what a process that was killed may have left
        return self

    def __exit__(self, *_: object) -> None:
        leave_word(self._folder, "")

    def told(self, trouble: str) -> None:
        """Take in what there is from now on; an empty text when it is over."""
        _say(trouble or "nothing keeps the shards waiting any more")
        leave_word(self._folder, trouble)


@asynccontextmanager
async def _shown(fleet: Fleet, folder: Path) -> AsyncGenerator[None]:
    """Say now and then how far the shards are; Ctrl-C once lets them end, twice ends them now."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        if not fleet.ending:
            print("ending: calls on the wire will land first, in every shard; once more to stop now", file=sys.stderr)
        fleet.end()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, interrupt)
    lines = asyncio.create_task(_lines(folder))
    try:
        yield
    finally:
        lines.cancel()
        await asyncio.gather(lines, return_exceptions=True)


async def _lines(folder: Path) -> None:
    from ...results.reading import open_run
    from .status_of_shards import ShardsWatcher

    watcher, clocked = ShardsWatcher(open_run(folder, 0)), asyncio.get_running_loop().time
    began, answers = clocked(), watcher.status().answers
    while True:
        await asyncio.sleep(PLAIN_SECONDS)
        status = watcher.status()
        parts = [
            f"{clock(clocked() - began)}  {status.done:,}/{status.planned:,} dialogues",
            f"{len(status.working)} of {len(status.shards)} shards at work",
            f"{(status.answers - answers) / PLAIN_SECONDS:,.0f} answers/s",
            status.money,
            *filter(None, [status.trouble]),
        ]
        answers = status.answers
        print(" · ".join(parts), file=sys.stderr, flush=True)

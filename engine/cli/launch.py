"""Starts a run from the command line: the loop, the signals, what is shown while it runs, and the summary."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import datetime

from ..closing import INTERRUPTED
from ..errors import Unfinished
from ..identity import folder_of
from ..registry import benchmark_of
from ..run import execute
from ..spec import Spec
from ..system.loop import allow_files, run_loop
from ..until import Until
from ..watch.live import Live
from ..watch.summary import Summary
from .servers import OwnServers
from .show import Show, summary_text
from .streams import abandon
from .working import Working


def launch(
    spec: Spec,
    *,
    as_json: bool = False,
    say: Callable[[Summary], str] | None = None,
    until: datetime | None = None,
    redis: str | None = None,
) -> int:
    """Run `spec` to its end, or until a moment, and print how it ended, or what `say` makes of that.

    `redis` is where shards meet, if it has any. Returns the exit code.
    """
    allow_files()
    try:
        summary = run_loop(_sharded(spec, redis, until) if spec.shards else _launch(spec, until))
    except (asyncio.CancelledError, KeyboardInterrupt):  # the latter while the run is still being opened
        print(
            "interrupted: what had come is on disk; next: the same command, which goes on from there", file=sys.stderr
        )
        return 130
    said = say(summary) if say else json.dumps(summary.to_json()) if as_json else summary_text(summary)
    try:
        print(said, flush=True)
    except OSError as error:
        # A full disk, say; how the run ended is still what the exit code says.
        abandon(sys.stdout.fileno())
        print(f"turntide: cannot write the summary: {error.strerror}\n{said}", file=sys.stderr)
    return summary.exit_code


def _sharded(spec: Spec, redis: str | None, until: datetime | None) -> Coroutine[None, None, Summary]:
    from .shards import launch_shards

    return launch_shards(spec, redis, until)


async def _launch(spec: Spec, until: datetime | None) -> Summary:
    async with AsyncExitStack() as stack:
        working = stack.enter_context(Working("opening the benchmark and its data"))
        servers = await stack.enter_async_context(OwnServers())
        servers.begin(model.id for model in spec.models)
        experiment = await stack.enter_async_context(
            benchmark_of(spec.benchmark).open(spec.options, seed=spec.seed, limit=spec.limit)
        )
        working.on("starting the models' servers")
        environ = await servers.environ(model.id for model in (*spec.models, *experiment.auxiliary))
        folder = folder_of(spec, experiment)
        show = Show(sys.stderr)
        working.on(f"opening {folder}")

        def observe(live: Live) -> None:
            working.end()
            _on_signals(live)
            show.watch(live)

        try:
            return await execute(spec, experiment, folder, observe, environ, Until(until) if until else None)
        finally:
            await show.aclose()


def ending(live: Live) -> str:
    """Return what a run that was told to end still waits for."""
    flying = sum(counts.on_the_wire for counts in live.progress.models.values())
    batched = sum(counts.batched for counts in live.progress.models.values())
    executing = live.executing()
    finish = f", {executing:,} SQL statements will finish" if executing else ""
    stay = f", {batched:,} in open batches stay there" if batched else ""
    return f"ending: {flying:,} calls on the wire will land first{finish}{stay}; once more to stop now"


def _on_signals(live: Live) -> None:
    """Ctrl-C once: let calls in flight land and stop resumable. Twice: stop now; what came is on disk.

    A terminal that goes away is Ctrl-C once, however often it is told (the kernel and the shell both do), and what
    would have been shown there is shown nowhere. A run under `nohup` does not hear of it.
    """
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    terminals = [stream.fileno() for stream in (sys.stdout, sys.stderr) if stream.isatty()]

    def interrupt() -> None:
        if live.closing.reason is None:
            print(ending(live), file=sys.stderr)
            live.closing.begin(Unfinished("draining", INTERRUPTED))
        elif main:
            main.cancel()

    def hang_up() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for terminal in terminals:
            os.dup2(nowhere, terminal)
        os.close(nowhere)
        if live.closing.reason is None:
            interrupt()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGHUP, hang_up)

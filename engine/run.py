"""One run, from its folder to its summary: everything that the other modules do is joined here."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

from ..adapters.base import ConfigurationError
from .again.seeding import Seed
from .calls.batching import Batching, OpenBatches
from .calls.budget import Budget
from .calls.calls import Calls
from .calls.ledger import Ledger
from .calls.limits.clock import loop_time
from .calls.retries import Retries
from .calls.routes import check_ways, open_routes
from .calls.share import ALONE, Share
from .calls.turnstile import Purse
from .closing import Closing
from .context import Door
from .dialogues import Dialogues
from .errors import RunError, Unfinished, first_of
from .examination import Examination
from .folder.binding import JOURNAL
from .folder.lock import RunLock
from .folder.manifest import open_or_create
from .gold import check_gold
from .identity import identity, settings_of
from .journal import Journal, JournalGone, JournalStopped, Visitor
from .progress import Progress
from .scheduler import Scheduler
from .spec import Settings, Spec
from .sql.executor import SqlExecutor
from .system.files import require_room, usable
from .system.garbage import seldom_collected
from .unit import Experiment, Prepares
from .until import Until
from .watch.live import Live
from .watch.pulse import beating
from .watch.summary import Summary, summarise

LOCK_STEP: Final = 10_000
"""Dialogues of one model that are live at once when their calls travel in batches: as many as one batch holds."""

NOTHING_TO_RUN: Final = "nothing to run: the plan holds no dialogue. Check the filters and --limit."


async def execute(
    spec: Spec,
    experiment: Experiment,
    folder: Path,
    observe: Callable[[Live], None] = lambda live: None,
    environ: Mapping[str, str] = os.environ,
    until: Until | None = None,
    share: Share = ALONE,
) -> Summary:
    """Run `spec` in `folder` to its end, or to where it must stop; run again, it goes on from there.

    `observe` is called once, when everything stands and nothing was sent; keys and base URLs come from `environ`; this
    part of the run has ended by `until`. `share` says which part of the plan is done here, and who does the others.
    Raises ConfigurationError (the user can mend it) and RunError (the folder cannot be trusted, or the run has
    diverged).
    """
    await check_ways(spec, experiment.auxiliary, environ)
    experiment = share.part(experiment)
    examination = Examination(experiment)
    async with _open(spec, experiment, folder, environ, until, share, examination.visit) as opened:
        live, journal, executor, talk = opened
        observe(live)
        if live.progress.left:
            await live.closing.during(_prepare(experiment, executor, live.progress))
        examination.begin(live.progress)
        scheduler = Scheduler(experiment, journal, talk, live.progress, live.closing)
        windows = dict.fromkeys((model.name for model in spec.models), _window(spec.settings))
        try:
            async with beating(live.progress, live.routes, journal.append):
                await scheduler.run(windows, spec.repeats)
            await journal.durable()
            await _check_databases(executor, journal)
        except* JournalGone as group:
            spent = live.budget.known, live.budget.exposed + live.budget.reserved
            live.broken = f"{first_of(group)} It had spent ${spent[0]}, with ${spent[1]} exposed."
            raise RunError(live.broken) from None
        except* JournalStopped as group:
            live.closing.begin(Unfinished("disk", str(first_of(group))))
        except* RunError as group:
            live.broken = str(first_of(group))
            raise first_of(group) from None
        finally:
            summary = summarise(live)
            with suppress(JournalStopped, OSError):  # a full disk takes nothing more: this part stays without its end
                await examination.end(journal, complete=summary.state == "complete", closing=live.closing)
                await asyncio.shield(talk.end(summary))
    return summary


async def _prepare(experiment: Experiment, executor: SqlExecutor, progress: Progress) -> None:
    """Find out before anything is sent what would break every dialogue."""
    if isinstance(experiment, Prepares):
        await experiment.prepare()
    await check_gold(tuple(experiment.references()), executor, progress)


async def _check_databases(executor: SqlExecutor, journal: Journal) -> None:
    """Put it on record, for every later report, when a database is no longer what the run began with."""
    if changed := await executor.changed():
        journal.append({"k": "tainted", "databases": changed})
        await journal.durable()
        raise RunError(
            f"the database {changed[0]} changed while the run used it, so its scores cannot be trusted. Restore it, "
            "and start a new run (another --out) that takes over the answers with --seed-from: all statements are then "
            "executed anew."
        )


@asynccontextmanager
async def _open(
    spec: Spec,
    experiment: Experiment,
    folder: Path,
    environ: Mapping[str, str],
    until: Until | None,
    share: Share,
    visit: Visitor,
) -> AsyncGenerator[tuple[Live, Journal, SqlExecutor, Dialogues]]:
    """Open everything a run stands on, in the order in which it can be refused; close it in reverse."""
    settings = spec.settings
    async with AsyncExitStack() as stack:
        stack.enter_context(RunLock(folder))
        stack.enter_context(seldom_collected())
        budget = Budget(cap=settings.cap)
        ledger = Ledger(budget)
        progress = Progress()
        with usable(folder):
            manifest = open_or_create(folder, identity(spec, experiment) | share.identity(), settings_of(spec))
            left = OpenBatches(manifest.run)
            visitors = [ledger.visit, left.visit, progress.visit, visit]
            journal = Journal.open(folder / JOURNAL, visitors=visitors, linger=progress.linger)
        stack.callback(journal.close)
        ledger.close()
        _plan(spec, experiment, progress, journal)
        if progress.left:
            require_room(folder)
        closing, purse = Closing(), Purse(budget)
        routes = open_routes(spec, experiment.auxiliary, purse, loop_time, journal.append, environ, share)
        stack.push_async_callback(routes.aclose)
        closing.listeners.append(routes.close_turnstiles)
        await stack.enter_async_context(share.working(purse, closing))
        executor = await stack.enter_async_context(
            SqlExecutor(
                experiment.databases,
                timeout=settings.sql_timeout,
                workers=settings.sql_workers or None,
                idle=not progress.left,
            )
        )
        retries = Retries(faults=settings.retries, first=settings.backoff)
        batching = await stack.enter_async_context(
            Batching(
                journal,
                purse,
                run=manifest.run,
                on=settings.batch,
                retries=retries,
                timeout=settings.attempt_timeout,
                progress=progress,
                closing=closing,
            )
        )
        calls = Calls(
            journal,
            ledger,
            run=manifest.run,
            retries=retries,
            attempt_timeout=settings.attempt_timeout,
            clock=loop_time,
            progress=progress,
            sleep=closing.sleep,
            left=until.left if until else None,
            seed=Seed(Path(settings.seed_from)) if settings.seed_from else None,
            batches=batching,
        )
        door = Door(
            journal=journal, calls=calls, executor=executor, routes=routes.by_label, seed=spec.seed, closing=closing
        )
        live = Live(progress, budget, routes, closing, folder, lambda: executor.executing)
        batching.start(routes.by_label, left)
        if until:
            stack.enter_context(_watching(until, live, settings))
        yield live, journal, executor, Dialogues(experiment, door, live, settings.max_errors)


@contextmanager
def _watching(until: Until, live: Live, settings: Settings) -> Generator[None]:
    """End the run in time: calls get twice what the slowest took to land, statements all that they may take."""

    def lead() -> float:
        slowest = max(counts.slowest for counts in live.progress.models.values())
        return max(min(2 * slowest, settings.attempt_timeout), settings.sql_timeout)

    watch = asyncio.create_task(until.watch(live.closing, lead))
    try:
        yield
    finally:
        watch.cancel()


def _plan(spec: Spec, experiment: Experiment, progress: Progress, journal: Journal) -> None:
    """Count what is planned, and what earlier parts have done: however soon this one ends, its summary is right."""
    for model in spec.models:
        counts = progress.of(model.name)
        for lane in experiment.lanes(model.name, spec.repeats):
            for unit in itertools.chain.from_iterable(lane):
                counts.planned += 1
                counts.done += journal.ended(unit.key)
    if not spec.shards and not any(counts.planned for counts in progress.models.values()):  # some shards may be empty
        raise ConfigurationError(NOTHING_TO_RUN)


def _window(settings: Settings) -> int:
    """Return how many dialogues of a model are live at once: in lock-step, all of them."""
    return max(settings.concurrency, LOCK_STEP) if settings.batch else settings.concurrency

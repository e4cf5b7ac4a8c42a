"""Runs lanes: lazily admitted, one window per model, each lane in its order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from .closing import Closing
from .errors import Unfinished
from .journal import Journal
from .progress import Progress
from .system.moments import utc_now
from .unit import Experiment, Lane, Remembers, Unit

Talk = Callable[[Unit], Awaitable[None]]


class Scheduler:
    """Runs one experiment's units through `talk`.

    Each model has a window of its own. Lanes are pulled from the plan one by one as places in it free, so live tasks
    never exceed the window (plus the width of a lane's step) whatever the size of the sweep.
    """

    def __init__(
        self, experiment: Experiment, journal: Journal, talk: Talk, progress: Progress, closing: Closing
    ) -> None:
        self._experiment = experiment
        self._journal = journal
        self._talk = talk
        self._progress = progress
        self._closing = closing
        self._form = experiment.record if isinstance(experiment, Remembers) else None

    async def run(self, windows: Mapping[str, int], repeats: int) -> None:
        """Run every model's lanes to their end, or until the run is closing. Raises the first RunError."""
        async with asyncio.TaskGroup() as models:
            for model, window in windows.items():
                models.create_task(self._model(model, window, repeats))

    async def _model(self, model: str, window: int, repeats: int) -> None:
        counts = self._progress.of(model)
        if counts.done == counts.planned:
            return
        free, slots = asyncio.Semaphore(window), asyncio.Semaphore(window)
        async with asyncio.TaskGroup() as running:
            for lane in self._experiment.lanes(model, repeats):
                await free.acquire()
                if self._closing():
                    break
                running.create_task(self._lane(lane, slots)).add_done_callback(lambda _: free.release())
                await asyncio.sleep(0)
        counts.ended = utc_now()

    async def _lane(self, lane: Lane, slots: asyncio.Semaphore) -> None:
        """Run a lane's steps in order; a step with an unfinished unit ends it.

        Units that earlier parts of the run ended are told to the experiment in order, and only when a later one
        still has to run: a finished lane costs nothing.
        """
        untold: list[Unit] = []
        for step in lane:
            rest = [unit for unit in step if not self._journal.ended(unit.key)]
            untold.extend(unit for unit in step if unit not in rest)
            if not rest:
                continue
            for unit in untold:
                self._experiment.ended(unit, self._journal.records(unit.key, self._form))
            untold.clear()
            if not all(await asyncio.gather(*(self._unit(unit, slots) for unit in rest))):
                return

    async def _unit(self, unit: Unit, slots: asyncio.Semaphore) -> bool:
        """Run one unit; return whether it ended."""
        counts = self._progress.of(unit.model)
        async with slots:
            counts.running += 1
            try:
                await self._talk(unit)
            except Unfinished:
                counts.unfinished += 1
                return False
            finally:
                counts.running -= 1
        counts.done += 1
        return True

"""Dialogues, talked through one by one: the end of each is written, and what did not end has its consequences."""

from __future__ import annotations

import traceback
from collections import Counter
from typing import Final

from .context import Door, UnitContext
from .errors import RunError, Unfinished, Why
from .folder.binding import SUMMARY
from .folder.parts import began, ended
from .unit import Experiment, Unit
from .watch.live import Live
from .watch.summary import Summary

FAILURES: Final[frozenset[Why]] = frozenset({"provider", "crash", "infrastructure"})
"""Why a dialogue of a model that is still asked can fail: what `--max-errors` counts."""


class Dialogues:
    """Talks one unit through and writes its end. With the first one the part begins: a finished run stays as it is.

    A model with `max_errors` failed dialogues in this part is parked: the others go on, and a resume tries it again.
    """

    def __init__(self, experiment: Experiment, door: Door, live: Live, max_errors: int | None) -> None:
        self._experiment = experiment
        self._door = door
        self._live = live
        self._max_errors = max_errors
        self._failed = Counter[str]()
        self._begun = False

    async def __call__(self, unit: Unit) -> None:
        """Run `unit`; Unfinished leaves it for the next part of the run."""
        if not self._begun:
            self._begun = True
            (self._live.folder / SUMMARY).unlink(missing_ok=True)
            planned = {label: counts.planned for label, counts in self._live.progress.models.items()}
            self._door.journal.append(began(planned))
        try:
            fault = await self._experiment.dialogue(unit, UnitContext(unit, self._door))
        except Unfinished as stop:
            self._stopped(unit, stop)
            raise
        except RunError:
            raise
        except Exception as error:
            crash = self._crashed(unit, error)
            self._stopped(unit, crash)
            raise crash from None
        end = {"k": "end", "u": unit.key, "m": unit.model}
        self._door.journal.append(end | {"unscored": fault} if fault else end)
        if fault:
            self._live.progress.unscored[fault] += 1

    async def end(self, summary: Summary) -> None:
        """Write the end of the part, if it has begun, and the summary, which a finished run keeps from its last part.

        Raises JournalStopped, when the summary is written all the same, and OSError.
        """
        journal = self._door.journal
        try:
            if self._begun:
                reasons = {label: model.reason for label, model in summary.models.items() if model.reason}
                journal.append(ended(summary.state, summary.reasons, reasons))
            await journal.durable()
        finally:
            if self._begun or summary.state != "complete" or not (summary.folder / SUMMARY).exists():
                summary.save(journal.size)

    def _stopped(self, unit: Unit, stop: Unfinished) -> None:
        """Draw the consequences of an unfinished dialogue for the run and its model."""
        if stop.why == "budget":
            self._live.closing.begin(stop)
        if stop.why not in FAILURES:
            return
        if stop.why == "infrastructure":
            self._live.progress.of(unit.model).last_stop = stop.message
        self._failed[unit.model] += 1
        if self._max_errors and self._failed[unit.model] >= self._max_errors:
            why = f"{self._max_errors:,} dialogues failed (--max-errors); the last one: {stop.message}"
            self._door.routes[unit.model].stop(why, "parked")

    def _crashed(self, unit: Unit, error: Exception) -> Unfinished:
        """A benchmark's own bug ends its dialogue, not the run; each distinct one is kept with its traceback, once."""
        message = f"{type(error).__name__}: {error}"
        self._live.crashes.setdefault(message, f"in {unit.key}:\n{traceback.format_exc()}")
        return Unfinished("crash", message)

"""A long sweep that is struck again and again: how its parts end, under which cap, and what it comes to in the end."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Container
from decimal import Decimal
from functools import reduce
from operator import add
from typing import Any, Final

from turntide.adapters.simulated import SimulatedServer
from turntide.engine.folder.binding import JOURNAL

from .audit import Audit, Tally
from .sweep import LOOK, Calm, Part, Said, Sweep, check_report
from .trial import Trial

PER_CALL: Final = Decimal("0.002")
"""USD under the first cap: about half of what calls cost, so that the cap is met, and raised, again and again."""

QUICK_PER_CALL: Final = Decimal("0.01")
"""Enough, for the short form: every cap that is met costs a part."""

RAISE: Final = Decimal("1.5")
"""By which a cap is raised that was met."""

RESERVE: Final = 0.9
"""Share of the calls that are left which no part is let to make, so that some are left for the next one."""

MOST_PARTS: Final = 100
"""Parts that may end by themselves before the sweep is given up."""

BY_ITSELF: Final = "a part that nobody kills ends complete, incomplete or at its cap"
OUTLIVES: Final = "no process outlives the one that started it"


class Course:
    """A sweep from its first part to its end. `audits` follow its journals over all parts; `cap` is in USD."""

    def __init__(
        self, sweep: Sweep, server: SimulatedServer, undisturbed: Calm, trial: Trial, per_call: Decimal
    ) -> None:
        self.sweep = sweep
        self.trial = trial
        self.calls = undisturbed.calls
        self.cap = per_call * undisturbed.calls
        self.ended = Counter[int]()
        self.audits = self._audits()
        self._server = server
        self._undisturbed = undisturbed

    @property
    def sent(self) -> int:
        """Attempts on record."""
        return sum(audit.sent for audit in self.audits)

    @property
    def answered(self) -> int:
        """Questions that have their answer."""
        return sum(audit.answered for audit in self.audits)

    def follow(self) -> None:
        """Take in what is new in all journals."""
        for audit in self.audits:
            audit.follow()

    def watch(self, part: Part, until: Callable[[], bool]) -> None:
        """Follow until something has come to pass, or the part has ended."""
        while part.running() and not until():
            time.sleep(LOOK)
            self.follow()

    def later(self, chance: random.Random, blows: float) -> int:
        """Return at how many answers to strike next, where so many blows are left for the calls that are."""
        left = self.calls - self.answered
        return self.answered + round(chance.uniform(0.0, min(2 * left / blows, RESERVE * left)))

    def start(self) -> Part:
        """Start a part under the cap of now."""
        return self.sweep.start(*self.capped())

    def capped(self) -> tuple[str, str]:
        """Return the option that says what the cap is now."""
        return "--max-cost", str(self.cap)

    def struck(self, *, others: bool = False) -> None:
        """Check what must hold after a blow; `others` are still at work, and what died says its journal's next part."""
        stats = self._server.stats()
        if not (self.sweep.folder / "manifest.json").exists():  # nothing was sent, and journals are begun again
            self.audits = self._audits()
        self.follow()
        if not others:
            self._died()
        self._check(stats)

    def note(self, said: Said, claim: str = BY_ITSELF, codes: Container[int] = (0, 3, 4)) -> None:
        """Take in how a part ended by itself, in one of `codes`; one that met its cap gets a higher one."""
        self.ended[said.code] += 1
        self.trial.check(claim, said.code in codes and not said.crashed, said)
        self.follow()
        left_open = sum(len(audit.wire) for audit in self.audits if not audit.at_work)
        self.trial.check("a process that nobody kills leaves no call open", not left_open, left_open)
        self._died()
        self._check(self._server.stats())
        if said.code == 4:
            self.cap = (self.cap * RAISE).quantize(Decimal("0.01"))

    def finish(self) -> dict[str, Any]:
        """Let the sweep come to its end, check what it came to, and return what was measured."""
        code = 3
        while code in (3, 4) and self.ended.total() < MOST_PARTS:
            with self.start() as part:
                self.note(said := part.ended())
            code = said.code
        self.trial.check("the sweep is complete in the end", code == 0, code)
        stats: dict[str, Any] = self._server.stats()
        whole = self._whole()
        self._check_whole(whole, stats)
        self._check_said(whole)
        return {
            "calls": whole.answered,
            "other parts by exit code": dict(self.ended),
            "calls in flight at the kills": whole.lost,
            "attempts that failed": whole.failed,
            "repeats at the provider": stats["repeats"],
            "answers that it gave twice": stats["paid_twice"],
            "faults": sum(stats["by_fault"].values()),
            "USD known, exposed, cap": f"{whole.known:.2f}, {whole.exposed:.2f}, {self.cap}",
        }

    def _audits(self) -> list[Audit]:
        return [Audit(folder / JOURNAL) for folder in self.sweep.folders]

    def _died(self) -> None:
        for audit in self.audits:
            audit.died()

    def _whole(self) -> Tally:
        return reduce(add, self.audits, Tally())

    def _check(self, stats: dict[str, Any]) -> None:
        whole = self._whole()
        whole.check(self.trial, self.cap)
        whole.check_provider(self.trial, stats)

    def _check_whole(self, whole: Tally, stats: dict[str, Any]) -> None:
        """Check what a finished sweep must hold: all of it, once, and the same when it is read from the start."""
        check, records = self.trial.check, self._undisturbed.records
        other = [(place, fields, records.get(place)) for place, fields in whole.records.items()]
        other = [each for each in other if each[1] != each[2]]
        check("no turn is scored otherwise than when nothing disturbs", not other, f"{len(other)}: {other[:2]}")
        check("every question has its answer", whole.answered == self.calls, whole.answered)
        keys = stats["keys"]
        check("the provider saw each question under one key", keys == self.calls, f"{keys} keys")
        self.audits = self._audits()
        self.follow()
        again = self._whole()
        same = (again.ends, again.answers, again.known) == (whole.ends, whole.answers, whole.known)
        check("the journal read at once is the one that was followed over all kills", same)

    def _check_said(self, whole: Tally) -> None:
        """Check what people read: the status and the report."""
        status = json.loads(self.sweep.ask("status", "--json").out)
        parts = status.get("shards", [status])
        told = tuple(sum(Decimal(part[amount]) for part in parts) for amount in ("known_usd", "exposed_usd"))
        mine = whole.known, whole.exposed
        self.trial.check(
            "`status` names the spend that the settled calls add up to", told == mine, f"{told}, not {mine}"
        )
        planned = status["dialogues_planned"]
        self.trial.check("every dialogue has its end", len(whole.ends) == planned, f"of {planned}")
        check_report(self.sweep, self._undisturbed, self.trial)

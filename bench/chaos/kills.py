"""One long sweep over a provider with every fault, killed with SIGKILL at hundreds of random instants."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from turntide.adapters.simulated import SimulatedServer

from ..folders import temporary
from .audit import Audit
from .sweep import CACHE, LOOK, Calm, Part, Said, Sweep, at, calm, check_report, gone, small, whole
from .trial import Asked, Trial
from .weather import ENDURING, foul

PER_CALL: Final = Decimal("0.002")
"""USD under the first cap: about half of what calls cost, so that the cap is met, and raised, again and again."""

QUICK_PER_CALL: Final = Decimal("0.01")
"""Enough, for the short form: every cap that is met costs a part."""

STARTS: Final = 0.3
"""Share of the kills that strike before a process has sent anything: opening, replay, gold."""

REPORTS: Final = 0.05
"""Share that strikes a report."""

COLD: Final = 0.1
"""Share of the starts that find nothing cached, so that gold results and embeddings are made anew."""

RESERVE: Final = 0.9
"""Share of the calls that are left which no part is let to make, so that some are left for the next one."""

RAISE: Final = Decimal("1.5")
"""By which a cap is raised that was met."""

MOST_PARTS: Final = 100
"""Parts that may end by themselves before the sweep is given up."""

TELL: Final = 5
"""Times that a long trial says how far it is."""


def hold(asked: Asked, trial: Trial) -> None:
    """Kill and resume, check after each kill, and compare the report with that of a sweep that nothing disturbed."""
    shape = small(asked) if asked.quick else whole(asked.sessions)
    undisturbed = calm(shape, asked.seed)
    trial.say(f"{undisturbed.calls:,} calls; undisturbed they take {undisturbed.seconds:.0f} s")
    with SimulatedServer.start(foul(asked.seed)) as server, temporary("chaos-") as place:
        cache = None if asked.quick else Path(place).absolute() / "cache"
        sweep = Sweep(shape, Path(place) / "run", at(server, cache), ENDURING)
        cap = undisturbed.calls * (QUICK_PER_CALL if asked.quick else PER_CALL)
        killer = Killer(sweep, server, undisturbed, trial, random.Random(asked.seed), cap)
        killer.kill(asked.kills)
        killer.finish()


@dataclass(slots=True)
class Killer:
    """Starts a sweep again and again, and kills it. `audit` follows the journal over all its parts; `cap` is in USD."""

    sweep: Sweep
    server: SimulatedServer
    undisturbed: Calm
    trial: Trial
    chance: random.Random
    cap: Decimal
    audit: Audit = field(init=False)
    struck: Counter[str] = field(default_factory=Counter[str])
    ended: Counter[int] = field(default_factory=Counter[int])
    start_seconds: float = 2.0
    report_seconds: float = 2.0

    def __post_init__(self) -> None:
        self.audit = Audit(self.sweep.journal)

    def kill(self, kills: int) -> None:
        """Kill so many processes, each at an instant of its own; one that ends before it is struck does not count."""
        while (done := self.struck.total()) < kills:
            if self.audit.ends and self.chance.random() < REPORTS:
                self._kill_report()
            else:
                self._kill_run(kills - done)
            if self.struck.total() * TELL // kills > done * TELL // kills:
                self.trial.say(f"{self.struck.total():,} kills, {self.audit.answered:,} calls answered")

    def finish(self) -> None:
        """Let the sweep come to its end, and check what it came to."""
        said = self._run()
        while said.code in (3, 4) and self.ended.total() < MOST_PARTS:
            said = self._run()
        self.trial.check("the sweep is complete in the end", said.code == 0, said)
        self.audit.follow()
        stats: dict[str, Any] = self.server.stats()
        self.audit.check(self.trial, self.cap)
        self.audit.check_provider(self.trial, stats)
        self._check_whole()
        self._check_said()
        self.trial.measured |= {
            "calls": self.audit.answered,
            "kills": dict(self.struck),
            "other parts by exit code": dict(self.ended),
            "calls in flight at the kills": self.audit.lost,
            "attempts that failed": self.audit.failed,
            "repeats at the provider": stats["repeats"],
            "answers that it gave twice": stats["paid_twice"],
            "faults": sum(stats["by_fault"].values()),
            "USD known, exposed, cap": f"{self.audit.known:.2f}, {self.audit.exposed:.2f}, {self.cap}",
        }

    def _run(self) -> Said:
        """Let a part end by itself."""
        said = self.sweep.run("--max-cost", str(self.cap))
        self._note(said)
        return said

    def _kill_run(self, left: int) -> None:
        cold = self._cool_down()
        with self.sweep.start("--max-cost", str(self.cap)) as part:
            stage = self._lie_in_wait(part, left)
            if not part.running():
                self._note(said := part.ended())
                self.start_seconds = min(self.start_seconds, said.seconds)
                return
            children = part.kill()
        self.struck[f"{stage}, nothing cached" if cold and stage == "starting" else stage] += 1
        self._after_a_kill(children)

    def _cool_down(self) -> bool:
        """Now and then remove what has been built once; return whether that was now."""
        cache = self.sweep.environ.get(CACHE)
        if not cache or self.chance.random() >= COLD:
            return False
        for built in ("gold", "embeddings", "quality"):
            shutil.rmtree(Path(cache) / built, ignore_errors=True)
        return True

    def _kill_report(self) -> None:
        """Kill a process that only reads, and see that it left no trace."""
        before = self.sweep.journal.stat()
        with self.sweep.read("report") as part:
            moment = time.monotonic() + self.chance.uniform(0.0, self.report_seconds)
            while part.running() and time.monotonic() < moment:
                time.sleep(LOOK)
            if not part.running():
                self.report_seconds = part.ended().seconds
                return
            children = part.kill()
        self.struck["reporting"] += 1
        self.trial.check("no process outlives the one that started it", not (left := gone(children)), left)
        untouched = self.sweep.journal.stat().st_mtime_ns == before.st_mtime_ns
        self.trial.check("a report that is killed leaves the journal as it was", untouched)

    def _lie_in_wait(self, part: Part, left: int) -> str:
        """Wait for the instant at which this part dies, or for its end; return what it is about then."""
        began, sent, answered = time.monotonic(), self.audit.sent, self.audit.answered
        if self.chance.random() < STARTS or not (remaining := self.undisturbed.calls - answered):
            moment = began + self.chance.uniform(0.0, self.start_seconds)
            self._watch(part, lambda: time.monotonic() >= moment)
        else:
            self._watch(part, lambda: self.audit.sent > sent)
            self.start_seconds = time.monotonic() - began
            apart = remaining / (left * (1 - STARTS))
            target = answered + self.chance.uniform(0.0, min(2 * apart, RESERVE * remaining))
            self._watch(part, lambda: self.audit.answered >= target)
            time.sleep(self.chance.uniform(0.0, 0.03))  # or all would die just after a group of lines was written
        return "starting" if self.audit.sent == sent else "calling"

    def _watch(self, part: Part, until: Callable[[], bool]) -> None:
        while part.running() and not until():
            time.sleep(LOOK)
            self.audit.follow()

    def _after_a_kill(self, children: set[int]) -> None:
        self.trial.check("no process outlives the one that started it", not (left := gone(children)), left)
        if not (self.sweep.folder / "manifest.json").exists():  # nothing was sent, and the journal is begun again
            self.audit = Audit(self.sweep.journal)
        self.audit.follow()
        self.audit.died()
        self.audit.check(self.trial, self.cap)
        self.audit.check_provider(self.trial, self.server.stats())

    def _note(self, said: Said) -> None:
        """Take in how a part ended by itself; one that met its cap gets a higher one."""
        self.ended[said.code] += 1
        self.trial.check(
            "a part that nobody kills ends complete, incomplete or at its cap", said.code in (0, 3, 4), said
        )
        self.audit.follow()
        self.audit.check(self.trial, self.cap)
        self.trial.check("a part that nobody kills leaves no call open", not self.audit.wire, len(self.audit.wire))
        if said.code == 4:
            self.cap = (self.cap * RAISE).quantize(Decimal("0.01"))

    def _check_whole(self) -> None:
        """Check what a finished sweep must hold: all of it, once, and the same when it is read from the start."""
        audit, check = self.audit, self.trial.check
        other = [(place, fields, self.undisturbed.records.get(place)) for place, fields in audit.records.items()]
        other = [each for each in other if each[1] != each[2]]
        check("no turn is scored otherwise than when nothing disturbs", not other, f"{len(other)}: {other[:2]}")
        check("every question has its answer", audit.answered == self.undisturbed.calls, audit.answered)
        asked = self.server.stats()["keys"]
        check("the provider saw each question under one key", asked == self.undisturbed.calls, f"{asked} keys")
        again = Audit(self.sweep.journal)
        again.follow()
        same = (again.ends, again.answers, again.known) == (audit.ends, audit.answers, audit.known)
        check("the journal read at once is the one that was followed over all kills", same)

    def _check_said(self) -> None:
        """Check what people read: the status and the report."""
        status = json.loads(self.sweep.ask("status", "--json").out)
        told = Decimal(status["known_usd"]), Decimal(status["exposed_usd"])
        mine = self.audit.known, self.audit.exposed
        self.trial.check(
            "`status` names the spend that the settled calls add up to", told == mine, f"{told}, not {mine}"
        )
        planned = status["dialogues_planned"]
        self.trial.check("every dialogue has its end", len(self.audit.ends) == planned, f"of {planned}")
        check_report(self.sweep, self.undisturbed, self.trial)

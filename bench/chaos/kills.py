"""One long sweep over a provider with every fault, killed with SIGKILL at hundreds of random instants."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from turntide.adapters.simulated import SimulatedServer

from ..folders import temporary
from .course import OUTLIVES, PER_CALL, QUICK_PER_CALL, Course
from .sweep import CACHE, Part, Sweep, at, calm, gone, small, whole
from .trial import Asked, Trial
from .weather import ENDURING, foul

KILLS: Final = 500
QUICK_KILLS: Final = 3

STARTS: Final = 0.3
"""Share of the kills that strike before a process has sent anything: opening, replay, gold."""

REPORTS: Final = 0.05
"""Share that strikes a report."""

COLD: Final = 0.1
"""Share of the starts that find nothing cached, so that gold results and embeddings are made anew."""

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
        course = Course(sweep, server, undisturbed, trial, QUICK_PER_CALL if asked.quick else PER_CALL)
        killer = Killer(course, random.Random(asked.seed))
        killer.kill(asked.kills or (QUICK_KILLS if asked.quick else KILLS))
        trial.measured["kills"] = dict(killer.struck)
        trial.measured |= course.finish()


@dataclass(slots=True)
class Killer:
    """Starts a sweep again and again, and kills it."""

    course: Course
    chance: random.Random
    struck: Counter[str] = field(default_factory=Counter[str])
    start_seconds: float = 2.0
    report_seconds: float = 2.0

    def kill(self, kills: int) -> None:
        """Kill so many processes, each at an instant of its own; one that ends before it is struck does not count."""
        while (done := self.struck.total()) < kills:
            if any(audit.ends for audit in self.course.audits) and self.chance.random() < REPORTS:
                self._kill_report()
            else:
                self._kill_run(kills - done)
            if self.struck.total() * TELL // kills > done * TELL // kills:
                self.course.trial.say(f"{self.struck.total():,} kills, {self.course.answered:,} calls answered")

    def _kill_run(self, left: int) -> None:
        cold = self._cool_down()
        with self.course.start() as part:
            stage = self._lie_in_wait(part, left)
            if not part.running():
                self.course.note(said := part.ended())
                self.start_seconds = min(self.start_seconds, said.seconds)
                return
            children = part.kill()
        self.struck[f"{stage}, nothing cached" if cold and stage == "starting" else stage] += 1
        self.course.trial.check(OUTLIVES, not (left_over := gone(children)), left_over)
        self.course.struck()

    def _cool_down(self) -> bool:
        """Now and then remove what has been built once; return whether that was now."""
        cache = self.course.sweep.environ.get(CACHE)
        if not cache or self.chance.random() >= COLD:
            return False
        for built in ("gold", "embeddings", "quality"):
            shutil.rmtree(Path(cache) / built, ignore_errors=True)
        return True

    def _kill_report(self) -> None:
        """Kill a process that only reads, and see that it left no trace."""
        sweep, trial = self.course.sweep, self.course.trial
        before = sweep.journal.stat()
        with sweep.read("report") as part:
            moment = time.monotonic() + self.chance.uniform(0.0, self.report_seconds)
            self.course.watch(part, lambda: time.monotonic() >= moment)
            if not part.running():
                self.report_seconds = part.ended().seconds
                return
            children = part.kill()
        self.struck["reporting"] += 1
        trial.check(OUTLIVES, not (left_over := gone(children)), left_over)
        untouched = sweep.journal.stat().st_mtime_ns == before.st_mtime_ns
        trial.check("a report that is killed leaves the journal as it was", untouched)

    def _lie_in_wait(self, part: Part, left: int) -> str:
        """Wait for the instant at which this part dies, or for its end; return what it is about then."""
        course, began, sent = self.course, time.monotonic(), self.course.sent
        if self.chance.random() < STARTS or course.answered == course.calls:
            moment = began + self.chance.uniform(0.0, self.start_seconds)
            course.watch(part, lambda: time.monotonic() >= moment)
        else:
            course.watch(part, lambda: course.sent > sent)
            self.start_seconds = time.monotonic() - began
            target = course.later(self.chance, left * (1 - STARTS))
            course.watch(part, lambda: course.answered >= target)
            time.sleep(self.chance.uniform(0.0, 0.03))  # or all would die just after a group of lines was written
        return "starting" if course.sent == sent else "calling"

"""A sweep cut into shards over the foul provider: shards, all of their run, and the Redis where they meet, killed."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from shutil import which
from typing import Final, TypeAlias

import msgspec
from turntide.adapters.simulated import SimulatedServer
from turntide.engine.folder.lock import holder
from turntide.engine.shards.on_ray import TASK
from turntide.engine.shards.processes import MODULE

from tests.support.processes import descendants

from ..folders import temporary
from ..processes import command
from .course import MOST_PARTS, OUTLIVES, PER_CALL, Course
from .sweep import Part, Shape, Sweep, at, calm, gone, small, whole
from .trial import Asked, CannotRunError, Trial
from .weather import ENDURING, foul

Blow: TypeAlias = str
"""One of the words in DECK."""

ROUND: Final[Sequence[Blow]] = ("a shard", "several shards", "a shard", "the Redis", "a shard", "the coordinator")
DECK: Final[Sequence[Blow]] = (*ROUND, *ROUND, *ROUND, "a shard", "Ctrl-C")
"""The blows of a long trial, in their proportions."""

BLOWS: Final = 120
QUICK_BLOWS: Final[tuple[Blow, ...]] = ("a shard", "the Redis", "the coordinator")
RAY_BLOWS: Final[tuple[Blow, ...]] = ("a shard", "several shards", "a shard", "a shard")

QUICK_PER_CALL: Final = Decimal("0.05")
"""USD under the cap of the short form, which is not met."""

SHARDS: Final = 4
QUICK_SHARDS: Final = 2

SESSIONS: Final = 45
RAY_SESSIONS: Final = 20

LATENCY: Final = "lognormal:0.2:0.6"
"""Slow, so that at any time calls are in flight in every shard..."""

IN_FLIGHT: Final = 16
QUICK_IN_FLIGHT: Final = 5
"""...and few at once, so that the sweep lasts for all blows."""

SOON: Final = 0.3
"""Share of the blows that come soon after the last one, while what it killed is starting again."""

SOON_SECONDS: Final = 1.0

AT_ONCE: Final = 10.0
"""Seconds within which everything has ended whose coordinator was killed, on however crowded a machine."""


def hold(asked: Asked, trial: Trial) -> None:
    """Strike a sweep on processes of this machine, and a shorter one on Ray where that is installed."""
    if not which("redis-server") or not find_spec("redis"):
        raise CannotRunError(
            "shards meet in Redis: redis-server (Debian: redis-server) or the extra `redis` is missing"
        )
    chance = random.Random(asked.seed)
    if asked.quick:
        _strike(small(asked), QUICK_SHARDS, "process", QUICK_BLOWS, chance, asked, trial)
        return
    _strike(
        whole(asked.sessions or SESSIONS), SHARDS, "process", _dealt(asked.kills or BLOWS, chance), chance, asked, trial
    )
    if find_spec("ray"):
        _strike(whole(RAY_SESSIONS), SHARDS, "ray", RAY_BLOWS, chance, asked, trial)
    else:
        trial.skip("on Ray: it is not installed (the extra `ray`)")


def _dealt(blows: int, chance: random.Random) -> Sequence[Blow]:
    """Return so many blows in a random order."""
    dealt = list(islice(cycle(DECK), blows))
    chance.shuffle(dealt)
    return dealt


def _strike(
    shape: Shape, shards: int, crew: str, blows: Sequence[Blow], chance: random.Random, asked: Asked, trial: Trial
) -> None:
    undisturbed = calm(shape, asked.seed)
    trial.say(f"{undisturbed.calls:,} calls in {shards} shards ({crew})")
    slow = msgspec.structs.replace(foul(asked.seed), latency=LATENCY)
    in_flight = QUICK_IN_FLIGHT if asked.quick else IN_FLIGHT
    options = (*ENDURING, "--in-flight", str(in_flight), "--on", crew)
    with SimulatedServer.start(slow) as server, temporary("chaos-") as place:
        sweep = Sweep(shape, Path(place) / "run", at(server), options, shards=shards)
        course = Course(sweep, server, undisturbed, trial, QUICK_PER_CALL if asked.quick else PER_CALL)
        striker = Striker(course, chance, deque(blows))
        striker.strike()
        measured = {
            "blows": dict(striker.struck),
            "seconds to the end of all after the coordinator's": round(striker.slowest, 1),
            **course.finish(),
        }
        trial.measured |= {f"{what} ({crew})": found for what, found in measured.items()}


@dataclass(slots=True)
class Striker:
    """Starts a sweep in shards again and again, and strikes it."""

    course: Course
    chance: random.Random
    left: deque[Blow]
    struck: Counter[str] = field(default_factory=Counter[str])
    slowest: float = 0.0

    def strike(self) -> None:
        """Give it all blows."""
        while self.left and self.course.ended.total() < MOST_PARTS:
            with self._begin() as part:
                self._work(part)
            self.course.trial.say(f"{self.struck.total():,} blows, {self.course.answered:,} calls answered")
        self.course.trial.check("every blow found whom it was meant for", not self.left, list(self.left))

    def _begin(self) -> Part:
        """Start a part, by either command that goes on."""
        sweep = self.course.sweep
        if (sweep.folder / "manifest.json").exists() and self.chance.random() < 0.5:
            return sweep.read("resume", *self.course.capped())
        return self.course.start()

    def _work(self, part: Part) -> None:
        """Strike a part until it is over."""
        while self.left and (victims := self._lie_in_wait(part, self.left[0])):
            blow = self.left.popleft()
            self.struck[blow] += 1
            if blow == "the coordinator":
                self._kill_all(part)
                return
            if blow == "Ctrl-C":
                self._interrupt(part)
                return
            self._kill(victims)
        self.course.note(part.ended())

    def _lie_in_wait(self, part: Part, blow: Blow) -> list[int]:
        """Wait for the instant of a blow; return whom it strikes, nobody where the part has ended before it."""
        course, chance = self.course, self.chance
        course.watch(part, lambda: bool(_within_reach(part, blow)))
        if course.answered == course.calls:
            pass  # whoever is begun now has nothing to do, and is gone soon
        elif chance.random() < SOON:
            moment = time.monotonic() + chance.uniform(0.0, SOON_SECONDS)
            course.watch(part, lambda: time.monotonic() >= moment)
        else:
            target = course.later(chance, len(self.left) * (1 - SOON))
            course.watch(part, lambda: course.answered >= target)
        course.watch(part, lambda: bool(_within_reach(part, blow)))
        victims = _within_reach(part, blow) if part.running() else []
        if blow == "several shards" and victims:
            return chance.sample(victims, chance.randint(2, len(victims)))
        return [chance.choice(victims)] if victims else []

    def _kill(self, victims: Sequence[int]) -> None:
        """Kill some of the processes of a part that goes on."""
        children = set[int](victims).union(*map(descendants, victims))
        for pid in victims:
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(pid, signal.SIGKILL)
        self._gone(children)
        self.course.struck(others=True)

    def _kill_all(self, part: Part) -> None:
        """Kill who started all others."""
        children, began = part.kill(), time.monotonic()
        self._gone(children)
        self.slowest = max(self.slowest, time.monotonic() - began)
        sweep = self.course.sweep
        held = [str(folder) for folder in (sweep.folder, *sweep.folders) if holder(folder)]
        self.course.trial.check("no folder stays held", not held, held)
        self.course.struck()

    def _interrupt(self, part: Part) -> None:
        children = descendants(part.pid)
        os.kill(part.pid, signal.SIGINT)
        said = part.ended()
        self._gone(children)
        self.course.note(said, "Ctrl-C lets the calls in flight land and ends with exit code 130", (130, 0))

    def _gone(self, pids: set[int]) -> None:
        left_over = gone(pids, AT_ONCE)
        self.course.trial.check(OUTLIVES, not left_over, [command(pid) for pid in left_over])


def _within_reach(part: Part, blow: Blow) -> list[int]:
    """Return the processes of a part of which a blow strikes some; none until there are enough."""
    if blow == "the coordinator":
        return [part.pid]
    commands = {pid: command(pid) for pid in sorted(descendants(part.pid))}
    if blow == "the Redis":
        return [pid for pid, words in commands.items() if "redis-server" in words[0]]
    shards = [pid for pid, words in commands.items() if MODULE in words or words[0].startswith(f"ray::{TASK}")]
    return shards if len(shards) > (blow == "several shards") else []

"""Several processes on one run folder: one works, the others are told who does, and a dead one is succeeded."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from turntide.adapters.simulated import Config, SimulatedServer

from ..folders import temporary
from .audit import Audit
from .sweep import LOOK, Part, Said, Sweep, at, audited, calm, check_report, small
from .trial import Asked, Trial

RACERS: Final = 10
QUICK_RACERS: Final = 3
RACES: Final = 5
FOR_EVER: Final = 600.0
"""Seconds that an answer takes: who holds a folder does so until it is killed."""

AT_ONCE: Final = 10.0
"""Seconds within which a second process has to give up: what a start takes on a crowded machine."""


def hold(asked: Asked, trial: Trial) -> None:
    """Start a second process beside a first, kill the first, and let many start at once."""
    shape = small(asked)
    with (
        SimulatedServer.start(Config(seed=asked.seed, latency=FOR_EVER)) as slow,
        SimulatedServer.start(Config(seed=asked.seed)) as quick,
        temporary("chaos-") as place,
    ):
        folder = Path(place) / "succession"
        _succession(Sweep(shape, folder, at(slow)), Sweep(shape, folder, at(quick)), asked, trial)
        for number in range(1 if asked.quick else RACES):
            race = Sweep(shape, Path(place) / f"race{number}", at(slow))
            _race(race, QUICK_RACERS if asked.quick else RACERS, trial)


def _succession(held: Sweep, sweep: Sweep, asked: Asked, trial: Trial) -> None:
    """Hold a folder, ask for it, and kill its holder."""
    with held.start() as first:
        audit = Audit(sweep.journal)
        while first.running() and not audit.sent:
            time.sleep(LOOK)
            audit.follow()
        second = sweep.run()
        _told(second, first, trial)
        trial.check("and at once", second.seconds < AT_ONCE, second)
        first.kill()
    third = sweep.run()
    trial.check("a dead holder's folder is taken over", third.code == 0, third)
    audit.follow()
    audit.died()
    audit.check(trial)
    trial.say(f"a second process gave up after {second.seconds:.1f} s; the folder of the killed one was taken over")
    check_report(sweep, calm(sweep.shape, asked.seed), trial)


def _race(sweep: Sweep, racers: int, trial: Trial) -> None:
    """Start many at once; the one that wins is killed when the others have given up."""
    with ExitStack() as stack:
        parts = [stack.enter_context(sweep.start()) for _ in range(racers)]
        deadline = time.monotonic() + racers * AT_ONCE
        while len(left := [part for part in parts if part.running()]) > 1 and time.monotonic() < deadline:
            time.sleep(LOOK)
        trial.check("of many that start at once exactly one wins", len(left) == 1, f"{len(left)} of {racers}")
        for part in parts:
            if part not in left:
                _told(part.ended(), left[0] if left else part, trial)
    audited(sweep, trial)
    trial.say(f"{racers} processes started at once: {len(left)} went on, {racers - len(left)} gave up")


def _told(said: Said, holder: Part, trial: Trial) -> None:
    """Check what a process says that finds the folder held."""
    refused = said.code == 2 and not said.crashed
    trial.check("who finds the folder held ends with exit code 2, without a traceback", refused, said)
    named = f"is in use by process {holder.pid} on {socket.gethostname()}" in said.err
    trial.check("and names the holder, its host and since when", named and ", since 20" in said.err, said)

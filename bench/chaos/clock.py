"""A wall clock that jumps by hours, forwards and backwards, under a run that goes on."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from turntide.adapters.simulated import Config, SimulatedServer
from turntide.adapters.simulated.config import Limits
from turntide.engine.journal import scan

from ..folders import temporary
from .sweep import Sweep, at, audited, calm, check_report, small, wait_for
from .trial import Asked, CannotRunError, Trial

JUMPS: Final = ("-5h", "+7h", "-26h", "+3d", "+0", "-40m", "+11h", "-9h", "+0")
QUICK_JUMPS: Final = ("-5h", "+0")
"""The last sets it right: while a clock is wrong, a moment is read to the whole second of the reply's own date."""
APART: Final = 1.1
"""Seconds between two jumps, at least: the clock is looked at once a second."""

SEEN: Final = 2
"""Answers that come between two jumps, at least."""

LATENCY: Final = 0.05
ALWAYS_SPENT: Final = Limits(requests_per_minute=1200, window=0.05)
"""A limit that one call uses up, and that is whole again before the next: every reply names the moment at which it is,
and whoever took that moment by a clock that is hours wrong would wait."""

PATIENCE: Final = 180.0
"""Seconds after which the run is given up."""

WAIT: Final = 20.0
"""Seconds for which no call has a reason to wait, on however crowded a machine."""

LIBRARIES: Final = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib")


def hold(asked: Asked, trial: Trial) -> None:
    """Let the clock jump under a run, with a provider that says when its limits end by dates of its own clock."""
    library = _libfaketime()
    shape = small(asked)
    undisturbed = calm(shape, asked.seed)
    jumps = QUICK_JUMPS if asked.quick else JUMPS
    with (
        SimulatedServer.start(Config(seed=asked.seed, latency=LATENCY, limits=ALWAYS_SPENT)) as server,
        temporary("chaos-") as place,
    ):
        hands = Path(place).absolute() / "hands"
        faked = at(server) | _faked(library, hands)
        sweep = Sweep(shape, Path(place) / "run", faked, ("--in-flight", "1"))
        _set(hands, "+0")
        with sweep.start() as part:
            answers = wait_for(sweep, part, answers=1)
            for offset in jumps:
                _set(hands, offset)
                time.sleep(APART)
                answers = wait_for(sweep, part, answers=answers + SEEN)
            at_work = part.running()
            said = part.ended(PATIENCE)
        trial.check("the clock jumped while the run was at work", at_work)
        due = undisturbed.seconds + undisturbed.calls * LATENCY
        trial.say(f"the clock jumped to {', '.join(jumps)}; {said.seconds:.1f} s, {due:.1f} of them latency and start")
        trial.check("the run comes to its end", said.code == 0, said)
        stats: dict[str, Any] = server.stats()
        trial.check("no limit is broken", stats["early"] == 0 and "429" not in stats["by_status"], stats["by_status"])
        _check_times(sweep, trial)
        check_report(sweep, undisturbed, trial)


def _check_times(sweep: Sweep, trial: Trial) -> None:
    """Check every duration that the run has left behind."""
    audited(sweep, trial)
    answers = [line for line in scan(sweep.journal) if line["k"] == "answer"]
    pauses = [after["at"] - before["at"] for before, after in pairwise(answers)]
    trial.check("nothing waits for the clock", max(pauses) < WAIT, f"no answer for {max(pauses):.1f} s")
    shortest = min(*pauses, *(line[name] for line in answers for name in ("queued", "took")))
    trial.check("no duration in the journal is negative", shortest >= 0, shortest)
    status = json.loads(sweep.ask("status", "--json").out)
    walls = [part["wall_seconds"] for part in status["parts"]]
    sane = all(wall is not None and 0 <= wall < 600 for wall in walls)
    trial.check("the time that a part took is what it took", sane, walls)


def _faked(library: Path, hands: Path) -> dict[str, str]:
    """Return the environment of a process whose wall clock alone is the one that `hands` sets."""
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(hands),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # or every timed wait of a thread ends at once, and is begun again
        "FAKETIME_CACHE_DURATION": "0",
        "NO_FAKE_STAT": "1",
    }


def _set(hands: Path, offset: str) -> None:
    """Let the clock show `offset` to the true time, at once."""
    draft = hands.with_suffix(".next")
    draft.write_text(f"{offset}\n")
    draft.replace(hands)


def _libfaketime() -> Path:
    """Return the library that shows a process another wall clock. Raises CannotRunError."""
    for folder in LIBRARIES:
        if found := next(iter(sorted(Path(folder).glob("**/libfaketime.so.1"))), None):
            return found
    raise CannotRunError("libfaketime is not installed (Debian: libfaketime), and nothing else makes a wall clock jump")

"""A folder that can be read and not be written: runs refuse it, readers do not mind."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from turntide.adapters.simulated import Config, SimulatedServer

from ..folders import temporary
from .mounts import disk
from .sweep import Said, Sweep, at, calm, check_end, small
from .trial import Asked, Trial

STOP: Final = "0.2"
"""USD at which the sweep stops: some two thirds of the short form, a quarter of the long one."""


def hold(asked: Asked, trial: Trial) -> None:
    """Stop a sweep in its middle, make its folder read-only, and then writable again."""
    undisturbed = calm(small(asked), asked.seed)
    with (
        SimulatedServer.start(Config(seed=asked.seed)) as server,
        temporary("chaos-") as place,
        _place(Path(place).absolute() / "place") as (folder, writable),
    ):
        sweep = Sweep(small(asked), folder / "run", at(server))
        stopped = sweep.run("--max-cost", STOP, "--in-flight", "4")  # so few that turns are scored by then
        trial.check("the sweep was stopped in its middle", stopped.code == 4, stopped)
        before, requests = sweep.journal.read_bytes(), server.stats()["requests"]
        writable(False)
        fresh = Sweep(small(asked), folder / "new", at(server))
        for said in (sweep.run(), sweep.ask("resume", "--max-cost", "9"), fresh.run()):
            _refused(said, trial)
        for command in ("status", "report"):
            said = sweep.ask(command)
            trial.check("`status` and `report` read it all the same", said.code == 0 and not said.crashed, said)
        trial.check("nothing was sent", server.stats()["requests"] == requests)
        trial.check("the journal is as it was", sweep.journal.read_bytes() == before)
        writable(True)
        check_end(sweep, "writable again, the run comes to its end", undisturbed, trial)


def _refused(said: Said, trial: Trial) -> None:
    trial.check("a run is refused with exit code 2, and without a traceback", said.code == 2 and not said.crashed, said)
    plain = "cannot be written" in said.err and "Make it writable, or choose another" in said.err
    trial.check("the refusal says what to do", plain, said)


@contextmanager
def _place(folder: Path) -> Generator[tuple[Path, Callable[[bool], None]]]:
    """Yield a folder, and what makes it writable or not: for root, to whom no permission is denied, a disk."""
    if os.geteuid() == 0:
        with disk(folder, "size=64m") as mounted:
            yield folder, lambda writable: mounted.change("rw" if writable else "ro")
        return
    folder.mkdir()
    yield folder, lambda writable: _permit(folder, writable)


def _permit(folder: Path, writable: bool) -> None:
    for path in (*folder.rglob("*"), folder):
        path.chmod((0o755 if path.is_dir() else 0o644) if writable else (0o555 if path.is_dir() else 0o444))

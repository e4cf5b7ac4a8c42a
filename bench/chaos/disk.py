"""A disk that is full: it refuses the manifest at first, then the journal, at one size after another."""

from __future__ import annotations

from pathlib import Path
from shutil import which
from typing import Final

from turntide.adapters.simulated import Config, SimulatedServer

from ..folders import temporary
from .mounts import disk
from .sweep import Calm, Said, Shape, Sweep, at, audited, calm, check_end, small
from .trial import Asked, CannotRunError, Trial

SIZES: Final = (4, 8, 12, 24, 60, 100, 180, 320)
"""Kilobytes that the run's folder may hold, one part after another; all of it takes about 450."""

QUICK_SIZES: Final = (60,)
AMPLE: Final = "64m"


def hold(asked: Asked, trial: Trial) -> None:
    """Fill a disk, and a quota on the size of files, make room step by step, and compare the report."""
    sizes = QUICK_SIZES if asked.quick else SIZES
    shape = small(asked)
    undisturbed = calm(shape, asked.seed)
    for name, fill in {"a small disk": _disk, "a limit on the size of files": _quota}.items():
        with SimulatedServer.start(Config(seed=asked.seed, latency=0.01)) as server, temporary("chaos-") as place:
            try:
                fill(shape, Path(place).absolute(), sizes, server, undisturbed, trial)
                trial.say(f"{name}: {', '.join(map(str, sizes))} KB, then enough")
            except CannotRunError as reason:
                trial.skip(f"{name}: {reason}")
                continue
        if asked.quick:  # the second way is for those who cannot have the first
            return


def _disk(
    shape: Shape, place: Path, sizes: tuple[int, ...], server: SimulatedServer, undisturbed: Calm, trial: Trial
) -> None:
    with disk(place / "disk", f"size={sizes[0]}k") as tiny:
        sweep = Sweep(shape, tiny.folder / "run", at(server))
        for size in sizes:
            tiny.change(f"size={size}k")
            _starved(sweep, sweep.run(), server, trial)
        tiny.change(f"size={AMPLE}")
        _fed(sweep, undisturbed, server, trial)


def _quota(
    shape: Shape, place: Path, sizes: tuple[int, ...], server: SimulatedServer, undisturbed: Calm, trial: Trial
) -> None:
    if not which("prlimit"):
        raise CannotRunError("prlimit is not installed (Debian: util-linux)")
    ample = Sweep(shape, place / "run", at(server))
    for size in sizes:
        limited = Sweep(shape, ample.folder, ample.environ, wrapper=("prlimit", f"--fsize={size * 1024}"))
        _starved(limited, limited.run(), server, trial)
    _fed(ample, undisturbed, server, trial)


def _starved(sweep: Sweep, said: Said, server: SimulatedServer, trial: Trial) -> None:
    """Check a part that met the end of its disk."""
    begun = (sweep.folder / "manifest.json").exists()
    refused = not begun or "paid for nothing" in said.err
    trial.check("a disk that fills ends a run with exit code 3", refused or said.code == 3, said)
    trial.check("where it is full already a run is refused with 2", not refused or said.code == 2, said)
    trial.check("no traceback is shown", not said.crashed, said)
    trial.check("the end says what to do", "make room" in said.err.lower() + said.out.decode().lower(), said)
    if begun:
        status = sweep.ask("status")
        trial.check("`status` can be read with the disk full", status.code == 0, status)
        _check_journal(sweep, server, trial)


def _fed(sweep: Sweep, undisturbed: Calm, server: SimulatedServer, trial: Trial) -> None:
    check_end(sweep, "with room the run comes to its end", undisturbed, trial)
    _check_journal(sweep, server, trial)


def _check_journal(sweep: Sweep, server: SimulatedServer, trial: Trial) -> None:
    audit = audited(sweep, trial)
    audit.died()
    audit.check_provider(trial, server.stats())

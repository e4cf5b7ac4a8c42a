"""The sweep that trials mistreat: its command line, its processes, and what it comes to when nobody disturbs it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from turntide.adapters.simulated import Config, SimulatedServer
from turntide.datasets.embeddings.location import FOLDER_VARIABLE, default_folder
from turntide.engine.cli.demo import MODELS
from turntide.engine.cli.servers import URL
from turntide.engine.folder.binding import JOURNAL
from turntide.engine.shards.folder import shard_folder

from tests.support.processes import becomes_true, descendants, is_alive

from ..folders import temporary
from ..processes import TURNTIDE
from .audit import PRICES, Audit, Question
from .trial import Asked, Trial

CACHE: Final = "TURNTIDE_CACHE"

LOOK: Final = 0.005
"""Seconds between two looks at a process or a journal."""

PATIENCE: Final = 600.0
"""Seconds after which a process that should have ended is killed."""


class Shape(NamedTuple):
    """How large a sweep is: models, conditions (none: all), and sessions (None: all)."""

    models: tuple[str, ...]
    conditions: tuple[str, ...]
    sessions: int | None

    def words(self) -> list[str]:
        """Return what of the command line says so."""
        named = {"--model": [f"sim/{model}" for model in self.models], "--condition": self.conditions}
        words = [word for option, values in named.items() for value in values for word in (option, value)]
        return [*words, *(("--limit", str(self.sessions)) if self.sessions else ())]


MODEL: Final = "reader-good@anthropic"
"""In the one format whose limits end at moments of the provider's clock."""

TINY: Final = Shape((MODEL,), ("A", "B"), 33)
"""84 calls, without memory and with that of their own session."""

SMALL: Final = Shape((MODEL,), ("A", "B", "C"), 40)
"""210 calls, of which a third see earlier sessions too."""


def small(asked: Asked) -> Shape:
    """Return the sweep of the trials that start many."""
    return TINY if asked.quick else SMALL


def whole(sessions: int | None) -> Shape:
    """Return the demo's sweep: five models, five conditions, 35,000 turns."""
    return Shape(MODELS, (), sessions)


class Said(NamedTuple):
    """How a process ended, what it printed, and how long it took in seconds."""

    code: int
    out: bytes
    err: str
    seconds: float

    @property
    def crashed(self) -> bool:
        """Whether a person was shown a traceback."""
        return "Traceback" in self.err

    def __str__(self) -> str:
        return f"exit code {self.code} after {self.seconds:.1f} s: {self.err[-1500:].strip()}"


class Part:
    """One process that works on a sweep, or reads it. It and its children are gone when the block ends."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the part
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            command, env={**os.environ, **environ}, stdout=self._out, stderr=self._err, start_new_session=True
        )
        self.pid = self._process.pid

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *_: object) -> None:
        if self.running():
            self.kill()
        self._out.close()
        self._err.close()

    def running(self) -> bool:
        """Whether it is still at work."""
        return self._process.poll() is None

    def kill(self) -> set[int]:
        """End it with SIGKILL, as a lost machine would; return the children that it had."""
        children = descendants(self.pid)
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        return children

    def ended(self, patience: float = PATIENCE) -> Said:
        """Wait until it ends by itself, or kill it after `patience` seconds: its exit code is then negative."""
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.returncode
        seconds = time.monotonic() - self._began
        said = [(file.seek(0), file.read())[1] for file in (self._out, self._err)]
        return Said(code, said[0], said[1].decode(errors="replace"), seconds)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep in a folder. `options` are added to every run of it, `wrapper` stands before the command.

    `shards` says into how many it is cut (None: not at all).
    """

    shape: Shape
    folder: Path
    environ: Mapping[str, str]
    options: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    shards: int | None = None

    @property
    def folders(self) -> list[Path]:
        """The folders that hold journals: the run's, or its shards'."""
        return [self.folder] if self.shards is None else [shard_folder(self.folder, n) for n in range(self.shards)]

    @property
    def journal(self) -> Path:
        """The journal of a run that is not cut."""
        return self.folder / JOURNAL

    def start(self, *more: str) -> Part:
        """Start the sweep, or go on with it: one command does both."""
        run = ["run", "enterprisemem", *self.shape.words(), "--prices", str(PRICES), "--out", str(self.folder)]
        cut = ("--shards", str(self.shards)) if self.shards else ()
        return Part([*self.wrapper, *TURNTIDE, *run, *cut, *self.options, *more], self.environ)

    def run(self, *more: str) -> Said:
        """Run the sweep, or go on with it, until it ends by itself."""
        with self.start(*more) as part:
            return part.ended()

    def ask(self, command: str, *more: str) -> Said:
        """Run another command of turntide on the folder: `status`, `report`, `resume`."""
        with self.read(command, *more) as part:
            return part.ended()

    def read(self, command: str, *more: str) -> Part:
        """Start another command of turntide on the folder."""
        return Part([*TURNTIDE, command, str(self.folder), *more], self.environ)

    def report(self) -> bytes:
        """Return the bytes of the report, every table in full."""
        return self.ask("report", "--json").out


def at(server: SimulatedServer, cache: Path | None = None) -> dict[str, str]:
    """Return the environment in which a sweep finds `server`, and builds what is built once in `cache`."""
    environ = {URL: server.base_url}
    if cache:
        environ |= {CACHE: str(cache), FOLDER_VARIABLE: str(default_folder(os.environ).absolute())}
    return environ


class Calm(NamedTuple):
    """What a sweep comes to that nothing disturbs: report, records by place, calls, and the seconds that it took."""

    report: bytes
    records: dict[Question, dict[str, Any]]
    calls: int
    seconds: float


@cache
def calm(shape: Shape, seed: int) -> Calm:
    """Return what a sweep comes to that nothing disturbs; held once in this process.

    Raises RuntimeError when even that fails.
    """
    with SimulatedServer.start(Config(seed=seed)) as server, temporary("chaos-") as folder:
        sweep = Sweep(shape, Path(folder) / "calm", at(server))
        said = sweep.run()
        if said.code:
            raise RuntimeError(f"the calm sweep failed: {said}")
        audit = Audit(sweep.journal)
        audit.follow()
        return Calm(sweep.report(), audit.records, audit.answered, said.seconds)


def wait_for(sweep: Sweep, part: Part, *, answers: int) -> int:
    """Wait until a sweep has so many answers on disk, or its part has ended; return how many it has."""
    audit = Audit(sweep.journal)
    while part.running() and audit.answered < answers:
        time.sleep(LOOK)
        audit.follow()
    return audit.answered


def audited(sweep: Sweep, trial: Trial) -> Audit:
    """Return the journal of a sweep, read from its start and checked."""
    audit = Audit(sweep.journal)
    audit.follow()
    audit.check(trial)
    return audit


def check_end(sweep: Sweep, claim: str, undisturbed: Calm, trial: Trial) -> None:
    """Let a sweep come to its end, and compare its report."""
    said = sweep.run()
    trial.check(claim, said.code == 0, said)
    check_report(sweep, undisturbed, trial)


def check_report(sweep: Sweep, undisturbed: Calm, trial: Trial) -> None:
    """Check what everybody cares about in the end."""
    found = sweep.report()
    same = found == undisturbed.report
    pieces = zip(found.split(b","), undisturbed.report.split(b","), strict=False)
    other = next((f"{mine!r}, not {calm!r}" for mine, calm in pieces if mine != calm), "another length")
    trial.check("the report has the bytes of a sweep that nothing disturbed", same, other)


def gone(pids: set[int], seconds: float = 20.0) -> set[int]:
    """Wait until processes have gone; return those that are still there after so many seconds."""
    becomes_true(lambda: not any(map(is_alive, pids)), seconds)
    return set(filter(is_alive, pids))

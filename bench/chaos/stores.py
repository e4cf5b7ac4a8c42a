"""Memory stores that die under a run: Redis and ChromaDB, killed in the middle, and back or not."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from turntide.adapters.simulated import Config, SimulatedServer

from tests.support.servers import free_port

from ..folders import temporary
from .sweep import LOOK, Calm, Sweep, at, audited, calm, check_end, small, wait_for
from .trial import Asked, CannotRunError, Trial

START: Final = 60.0
"""Seconds that a store may take to listen."""

SHARE: Final = 3
"""One in so many calls is answered when a store dies."""

AWAY: Final = 0.5
"""Seconds that a store is gone which comes back."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store that a sweep may keep memory in: the option that names it, how it is started, and what it lacks here."""

    name: str
    option: str
    scheme: str
    command: Callable[[int, Path], Sequence[str]]
    missing: Callable[[], str]


REDIS: Final = Store(
    name="Redis",
    option="--redis",
    scheme="redis",
    command=lambda port, folder: ("redis-server", "--port", str(port), "--save", "", "--dir", str(folder)),
    missing=lambda: (
        ""
        if shutil.which("redis-server") and find_spec("redis")
        else "redis-server is not installed (Debian: redis-server), or its client is not (the extra `redis`)"
    ),
)
CHROMA: Final = Store(
    name="ChromaDB",
    option="--chroma",
    scheme="http",
    command=lambda port, folder: (str(_chroma()), "run", "--port", str(port), "--path", str(folder)),
    missing=lambda: "" if find_spec("chromadb") and _chroma().exists() else "ChromaDB is not installed (`make real`)",
)


def hold(asked: Asked, trial: Trial) -> None:
    """Kill each store under a run: once for good, once to come back empty, then to lose nothing."""
    for store in (REDIS,) if asked.quick else (REDIS, CHROMA):
        if missing := store.missing():
            trial.skip(f"{store.name}: {missing}")
            continue
        undisturbed = calm(small(asked), asked.seed)
        for back in (False,) if asked.quick else (False, True):
            with (
                SimulatedServer.start(Config(seed=asked.seed, latency=0.05)) as server,
                temporary("chaos-") as place,
            ):
                port = free_port()
                sweep = Sweep(
                    small(asked), Path(place) / "run", at(server), (store.option, f"{store.scheme}://127.0.0.1:{port}")
                )
                _bereave(sweep, store, port, Path(place) / "store", back, undisturbed, trial)


def _bereave(sweep: Sweep, store: Store, port: int, folder: Path, back: bool, undisturbed: Calm, trial: Trial) -> None:
    """Let a store die in the middle of a run, for good or not, and go on with the run when it is there."""
    with ExitStack() as stack:
        first = stack.enter_context(_started(store, port, folder))
        part = stack.enter_context(sweep.start())
        wait_for(sweep, part, answers=undisturbed.calls // SHARE)
        first.kill()
        if back:
            first.wait()
            time.sleep(AWAY)
            shutil.rmtree(folder)
            stack.enter_context(_started(store, port, folder))
        said = part.ended()
    trial.say(
        f"{store.name} died{' and came back empty' if back else ''}: exit code {said.code} after {said.seconds:.1f} s"
    )
    codes = (0, 3) if back else (3,)
    trial.check("the run ends resumable, or rides it out", said.code in codes and not said.crashed, said)
    named = said.code == 0 or store.name in said.out.decode()
    trial.check("the end names the store", named, said.out.decode())
    _check_records(sweep, undisturbed, trial)
    if not back:
        refused = sweep.run()
        plain = refused.code == 2 and f"no {store.name} answers at" in refused.err
        trial.check("a run that finds its store gone is refused before it sends anything", plain, refused)
    with _started(store, port, folder):
        check_end(sweep, "with the store back the run comes to its end", undisturbed, trial)
    _check_records(sweep, undisturbed, trial)


def _check_records(sweep: Sweep, undisturbed: Calm, trial: Trial) -> None:
    """Check that whatever was scored was scored as if the store had never died."""
    audit = audited(sweep, trial)
    wrong = [place for place, fields in audit.records.items() if fields != undisturbed.records[place]]
    trial.check("no turn is scored otherwise than with the store at hand", not wrong, wrong[:3])


@contextmanager
def _started(store: Store, port: int, folder: Path) -> Generator[subprocess.Popen[bytes]]:
    """Start a store, empty or with what is in `folder`, wait until it listens, and kill it at the end."""
    folder.mkdir(exist_ok=True)
    command = list(store.command(port, folder))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _listens(store, process, port)
            yield process
        finally:
            process.kill()


def _listens(store: Store, process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
            return
        time.sleep(LOOK)
    raise CannotRunError(f"{store.name} did not start")


def _chroma() -> Path:
    return Path(sys.executable).with_name("chroma")

"""`turntide demo`: the whole sweep on synthetic data with simulated models, killed in the middle and resumed."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from ...adapters.base import ConfigurationError
from .arguments import at_least
from .servers import URL

if TYPE_CHECKING:
    from ...adapters.simulated import SimulatedServer
    from ..benchmark import Subparsers

MODELS: Final = ("reader-perfect", "reader-strong", "reader-good", "reader-forgetful", "reader-credulous")
"""Simulated models of different quality, all answering from the prompt alone."""

PROGRAM: Final = (sys.executable, "-P", "-m", "turntide.engine.cli")

TURNS: Final = 1400
CONDITIONS: Final = 5


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `demo`."""
    parser = commands.add_parser(
        "demo",
        help="the whole 25-cell sweep on synthetic data with simulated models",
        description=(
            "Run all of EnterpriseMem-Bench (five simulated models, five memory conditions, 1,400 turns each: 35,000 "
            "calls over loopback HTTP), kill the run without warning on the way, resume it, and print its tables."
        ),
    )
    parser.add_argument("--out", default="runs/demo", metavar="DIR", help="the run's folder (default runs/demo)")
    parser.add_argument("--limit", type=at_least(1), metavar="N", help="only the first N sessions")
    parser.add_argument("--no-kill", action="store_true", help="let the run go through in one piece")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the demo and return the sweep's exit code."""
    from ...adapters.simulated import SimulatedServer

    folder = Path(args.out)
    if folder.exists() and not (folder / "manifest.json").exists():
        raise ConfigurationError(f"{folder} exists and is not a run; choose another folder with --out.")
    if (folder / "manifest.json").exists():
        _say(f"{folder} is there already: going on with it. (Remove the folder to start over.)")
    began = time.monotonic()
    with SimulatedServer.start() as server:
        sweep = _sweep(folder, args.limit)
        command = [*PROGRAM, *sweep]
        environ = {**os.environ, URL: server.base_url}
        _say(f"simulated provider at {server.base_url}; the sweep is: {shlex.join(['turntide', *sweep])}")
        code = None
        if not args.no_kill:
            code = _run_and_kill(command, environ, server, _calls(folder, args.limit) // 3)
        killed = not args.no_kill and code is None
        if code is None:
            with _started(command, environ) as process:
                code = _ended(process)
        requests, repeats = _count(server, "requests"), _count(server, "repeats")
    _say(f"{time.monotonic() - began:.0f} s; the provider saw {requests:,} requests, {repeats:,} of them repeats")
    if code == 0:
        from . import main

        code = main(["report", str(folder)])
        _say(_moral(folder, repeats if killed else None))
    return code


def _moral(folder: Path, repeats: int | None) -> str:
    """Return what was shown, and what to look at next; `repeats` is None when nothing was killed."""
    where = shlex.quote(str(folder))
    after = f"next: turntide report {where} --html demo.html, turntide compare {where} --by part"
    if repeats is None:
        return after
    wire = f"the {repeats:,} calls on the wire at the kill were asked again, under the same idempotency key"
    return f"shown: a kill loses no answer that had come; {wire}; {after}"


def _run_and_kill(command: list[str], environ: dict[str, str], server: SimulatedServer, after: int) -> int | None:
    """Run the sweep until the provider has seen `after` more requests, then kill it with SIGKILL.

    Returns its exit code when it ended before.
    """
    target = _count(server, "requests") + after
    with _started(command, environ) as sweep:
        while sweep.poll() is None and _count(server, "requests") < target:
            time.sleep(0.2)
        if sweep.poll() is not None:
            return _ended(sweep)
        sweep.send_signal(signal.SIGKILL)
    _say(f"killed the sweep (SIGKILL) after {target:,} calls; the same command goes on from there")
    return None


@contextmanager
def _started(command: list[str], environ: dict[str, str]) -> Generator[subprocess.Popen[str]]:
    """Start the sweep, to which every Ctrl-C is handed on while it runs: it knows how to end."""
    # In a session of its own it hears of each Ctrl-C once, whether it came from the terminal or to us alone.
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True, start_new_session=True) as sweep:

        def hand_on(number: int, _: FrameType | None) -> None:
            sweep.send_signal(number)

        before = {number: signal.signal(number, hand_on) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield sweep
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _ended(sweep: subprocess.Popen[str]) -> int:
    """Wait for the sweep and return its exit code; where it is not done, print what it says of that."""
    said, _ = sweep.communicate()
    if sweep.returncode:
        print(said, end="", flush=True)
    return sweep.returncode


def _sweep(folder: Path, limit: int | None) -> list[str]:
    models = [word for model in MODELS for word in ("--model", f"sim/{model}")]
    limited = ["--limit", str(limit)] if limit else []
    return ["run", "enterprisemem", *models, "--out", str(folder), *limited]


def _calls(folder: Path, limit: int | None) -> int:
    """Return about how many calls the sweep will make; a resumed or shortened one makes fewer."""
    if (folder / "manifest.json").exists():
        return sys.maxsize
    return len(MODELS) * CONDITIONS * (min(TURNS, limit) if limit else TURNS)


def _count(server: SimulatedServer, name: str) -> int:
    count = server.stats()[name]
    assert isinstance(count, int)
    return count


def _say(text: str) -> None:
    print(f"demo: {text}", file=sys.stderr, flush=True)

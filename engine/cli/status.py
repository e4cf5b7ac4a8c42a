"""`turntide status`: how far a run is, from another terminal while it runs, or afterwards."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .arguments import positive
from .streams import is_read

if TYPE_CHECKING:
    from ..benchmark import Subparsers
    from .status_of_run import Status, Watcher
    from .status_of_shards import ShardsStatus, ShardsWatcher

WATCH: Final = 2.0
_CLEAR: Final = "\x1b[H\x1b[J"


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `status`."""
    parser = commands.add_parser(
        "status",
        help="how far a run is, from another terminal or afterwards",
        description="Say how far a run is, what it spent, what failed last, and how to go on. Disturbs nothing.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument("--json", action="store_true", help="print it as JSON; with --watch a line each time")
    parser.add_argument(
        "--watch",
        nargs="?",
        type=positive,
        const=WATCH,
        metavar="S",
        help=f"say it again every S seconds (default {WATCH:g}) until no process works on the run",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the status. Raises ConfigurationError when the folder holds no run."""
    watcher = watcher_of(args.folder)
    _show(watcher.status(), as_json=args.json)
    if args.watch is not None:
        watch(watcher, args.watch, as_json=args.json)
    return 0


def watch(
    watcher: Watcher | ShardsWatcher, seconds: float, *, as_json: bool, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Print the status again and again, in one place on a terminal, while a process works on the run."""
    while watcher.working and is_read():
        sleep(seconds)
        status = watcher.status()
        if sys.stdout.isatty() and not as_json:
            sys.stdout.write(_CLEAR)
        _show(status, as_json=as_json)


def read_status(folder: Path) -> Status | ShardsStatus:
    """Read a run's folder; a run that has just begun may have no journal yet."""
    return watcher_of(folder).status()


def watcher_of(folder: Path) -> Watcher | ShardsWatcher:
    """Return who reads the status of the run in `folder`, whole or in shards."""
    from ...results.reading import open_run
    from .status_of_run import Watcher
    from .status_of_shards import ShardsWatcher

    run = open_run(folder, 0)
    return ShardsWatcher(run) if run.shards else Watcher(run)


def _show(status: Status | ShardsStatus, *, as_json: bool) -> None:
    print(json.dumps(status.to_json()) if as_json else "\n".join(status.lines(time.time())), flush=True)

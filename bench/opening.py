"""Open a journal in this process alone: `python -m bench.opening journal|orjson PATH` prints its seconds and MB.

`journal` is what a run does before it goes on; `orjson` reads every line and keeps none: the least that it could do.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import orjson
from turntide.engine.calls.budget import Budget
from turntide.engine.calls.ledger import Ledger
from turntide.engine.journal import Journal

from .processes import memory


class Opened(NamedTuple):
    """What it took: seconds of CPU time, and the most memory that was held, in MB."""

    seconds: float
    megabytes: float


def opened_apart(way: str, path: Path) -> Opened:
    """Open `path` in a process of its own."""
    command = [sys.executable, "-m", __name__, way, str(path)]
    seconds, megabytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return Opened(float(seconds), float(megabytes))


def _open(path: Path) -> None:
    ledger = Ledger(Budget())
    Journal.open(path, visitors=[ledger.visit]).close()
    ledger.close()


def _read(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)


if __name__ == "__main__":
    ways = {"journal": _open, "orjson": _read}
    began = time.process_time()
    ways[sys.argv[1]](Path(sys.argv[2]))
    print(time.process_time() - began, memory(kind="VmHWM"))

"""What was reported durable outlives the process, however it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from turntide.engine.journal import Journal, scan

APPENDER = Path(__file__).with_name("appender.py")


def run_and_kill(path: Path, after: int) -> list[int]:
    """Run the appender, kill it once it has reported `after` lines, and return all that it reported."""
    command = [sys.executable, str(APPENDER), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        reported = [int(process.stdout.readline()) for _ in range(after)]
        process.kill()
        rest = process.stdout.read().split(b"\n")[:-1]  # what follows the last newline was cut by the kill
    return reported + [int(number) for number in rest]


def test_no_kill_loses_or_doubles_a_durable_line(journal_path: Path) -> None:
    reported: set[int] = set()
    for after in (1, 37, 200, 333, 50):
        reported.update(run_and_kill(journal_path, after))
        stored = [line["s"] for line in scan(journal_path)]
        assert reported <= set(stored)
        assert len(stored) == len(set(stored))
        Journal.open(journal_path).close()

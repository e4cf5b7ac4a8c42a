"""Child processes, measured from outside through /proc (Linux)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.processes import descendants

TURNTIDE: Final = (sys.executable, "-P", "-m", "turntide.engine.cli")
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_LOOK_EVERY: Final = 0.2


@dataclass(slots=True)
class Watched:
    """What was seen of a process and its descendants until it ended; times in seconds, memory in MB."""

    code: int = -1
    wall: float = 0.0
    cpu: float = 0.0
    descendants: dict[int, float] = field(default_factory=dict[int, float])
    memory: list[float] = field(default_factory=list[float])

    @property
    def descendants_cpu(self) -> float:
        """CPU time of all descendants, as far as it was seen."""
        return sum(self.descendants.values())


def watch(command: Sequence[str], environ: Mapping[str, str]) -> Watched:
    """Run `command` to its end and look at it five times a second."""
    seen, began = Watched(), time.perf_counter()
    with subprocess.Popen(
        command, env={**os.environ, **environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        while child.poll() is None:
            seen.cpu = cpu(child.pid) or seen.cpu
            seen.descendants |= {pid: spent for pid in descendants(child.pid) if (spent := cpu(pid))}
            if resident := memory(child.pid):
                seen.memory.append(resident)
            time.sleep(_LOOK_EVERY)
    seen.code, seen.wall = child.returncode, time.perf_counter() - began
    return seen


class Spent(NamedTuple):
    """Seconds by the clock and of CPU time."""

    wall: float
    cpu: float


def timed(command: Sequence[str], environ: Mapping[str, str]) -> Spent:
    """Run `command` to its end and return what it took, its own children's CPU time included.

    Raises CalledProcessError when it fails.
    """
    began = time.perf_counter()
    child = subprocess.Popen(command, env={**os.environ, **environ}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert child.stdout is not None
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command, said)
    return Spent(time.perf_counter() - began, usage.ru_utime + usage.ru_stime)


def command(pid: int) -> list[str]:
    """Return the words that a process was started with, or the title that it gave itself; `[""]` when it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
    except OSError:
        return [""]


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process so far; 0 when it has gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory(pid: int | str = "self", kind: str = "VmRSS") -> float:
    """Return the resident memory of a process in MB (`VmHWM`: at its highest); 0 when it has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(kind)), 0.0)

"""What processes this one has started, from /proc."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def _parents() -> dict[int, int]:
    """Return the parent of every process that is not a zombie."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # gone meanwhile
            continue
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    return parents


def descendants(pid: int) -> set[int]:
    """Return the process ids of everything below `pid`."""
    parents = _parents()
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in found | {pid}} - found:
        found |= more
    return found


def children_of(pids: set[int]) -> list[set[int]]:
    """Return the children of each of `pids`."""
    parents = _parents()
    return [{child for child, parent in parents.items() if parent == pid} for pid in pids]


def is_alive(pid: int) -> bool:
    """Return whether `pid` runs and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def becomes_true(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Wait until `condition` holds; return whether it did in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True

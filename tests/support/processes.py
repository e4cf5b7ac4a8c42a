"""What processes this one has started, from /proc."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path


def descendants(pid: int) -> set[int]:
    """Return the process ids of everything below `pid`."""
    found: set[int] = set()
    new = {pid}
    while new := set[int]().union(*map(_children, new)) - found:
        found |= new
    return found


def children_of(pids: set[int]) -> list[set[int]]:
    """Return the children of each of `pids`."""
    return [_children(pid) for pid in pids]


def _children(pid: int) -> set[int]:
    """Return the children of a process that are no zombies; none of one that is gone."""
    found: set[int] = set()
    with contextlib.suppress(OSError):  # the process is gone meanwhile
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # or this thread of it
                found |= set(map(int, task.read_text().split()))
    return set(filter(is_alive, found))


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

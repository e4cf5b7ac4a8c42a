"""Folders for what a bench writes: under `runs/`, the disk of real runs (a temporary one may lie in memory)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def scratch_folder() -> TemporaryDirectory[str]:
    """Return a new folder that goes when its handle does."""
    runs = Path("runs")
    runs.mkdir(exist_ok=True)
    return TemporaryDirectory(prefix="bench-", dir=runs)


@contextmanager
def scratch() -> Generator[Path]:
    """Yield a new folder and remove it."""
    with scratch_folder() as folder:
        yield Path(folder)

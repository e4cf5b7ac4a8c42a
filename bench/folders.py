"""Folders for what a bench writes: under `build/`, on the disk that the project lies on. `/tmp` may lie in memory."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

BUILD: Final = Path("build")
"""Ignored by git and removed by `make clean`."""


def temporary() -> TemporaryDirectory[str]:
    """Return a new folder that goes when its handle does."""
    BUILD.mkdir(exist_ok=True)
    return TemporaryDirectory(prefix="bench-", dir=BUILD)

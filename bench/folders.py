"""Folders for what a bench writes: under `build/`, on the disk that the project lies on. `/tmp` may lie in memory."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

BUILD: Final = Path("build")
"""Ignored by git and removed by `make clean`."""


def temporary(prefix: str = "bench-") -> TemporaryDirectory[str]:
    """Return a new folder that goes when its handle does."""
    BUILD.mkdir(exist_ok=True)
    return TemporaryDirectory(prefix=prefix, dir=BUILD)


SPARE: Final = "spare"
"""The folder in which SQLite would put its temporary files, if it were let."""


@contextmanager
def apart() -> Generator[Path]:
    """Make a new folder with a folder for temporary files in it, to which this process and its children keep."""
    with temporary() as name:
        folder = Path(name).resolve()
        (folder / SPARE).mkdir()
        os.environ |= dict.fromkeys(("TMPDIR", "SQLITE_TMPDIR"), str(folder / SPARE))
        yield folder

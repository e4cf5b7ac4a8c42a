"""Small disks of memory, which fill up and turn read-only as large ones do."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .trial import CannotRunError

TRIES: Final = 50


class Disk:
    """A mounted tmpfs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def change(self, options: str) -> None:
        """Give it another size (`size=64k`), or make it read-only (`ro`) or writable (`rw`)."""
        command = ["mount", "-o", f"remount,{options}", str(self.folder)]
        for _ in range(TRIES):
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.1)  # a process that has just ended may still be closing its files
        subprocess.run(command, check=True)


@contextmanager
def disk(folder: Path, options: str) -> Generator[Disk]:
    """Mount a disk at `folder`, which is made, and unmount it. Raises CannotRunError where this cannot be done."""
    if os.geteuid() != 0:
        raise CannotRunError("a small disk can be mounted by root alone")
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRunError(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)

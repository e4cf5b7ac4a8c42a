"""Two things that must survive a power cut: a file that replaces another, and a new name in a folder.

One that must not happen: that a folder from someone else makes us write to a file elsewhere. And what is said of a
folder that takes nothing.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import disk_usage
from typing import Final

from ...adapters.base import ConfigurationError

FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk that is full, for this user or for this file."""

ROOM: Final = 16 * 1024
"""Bytes without which nothing is sent."""


@contextmanager
def usable(folder: Path) -> Generator[None]:
    """Turn an error of the disk within the block into one that says what a run needs of its folder.

    Raises ConfigurationError.
    """
    try:
        yield
    except OSError as error:
        todo = (
            "Make room there, then start it again" if error.errno in FULL else "Make it writable, or choose another one"
        )
        raise ConfigurationError(
            f"{folder} cannot be written ({error.strerror}): a run needs a folder that it can lock and add to. {todo}."
        ) from error


def require_room(folder: Path) -> None:
    """Raise ConfigurationError when a disk has no room for a few answers: they would be paid for and lost."""
    if (free := disk_usage(folder).free) < ROOM:
        raise ConfigurationError(
            f"{folder}: only {free:,} bytes are free there, and answers that cannot be written would be paid for "
            "nothing. Make room there, then start it again."
        )


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: a new file's data may be on disk while its name is not."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def require_no_links(folder: Path) -> None:
    """Raise ConfigurationError when a name in a run's folder, or one folder below, leads elsewhere.

    We write to names that are known beforehand. Were one a symbolic link, whoever made the folder would choose where.
    """
    for path in (*folder.glob("*"), *folder.glob("*/*")):
        if path.is_symlink():
            raise ConfigurationError(
                f"{path} is a symbolic link: turntide writes into a run's folder, and nowhere else. Put the file "
                f"itself in its place."
            )


def require_plain(folder: Path, names: Iterable[str]) -> None:
    """Raise ConfigurationError when one of `names` in a run's folder is there and is no file.

    A folder cannot be read as one, and who reads a pipe waits forever.
    """
    for path in (folder / name for name in names):
        if path.exists() and not path.is_file():
            raise ConfigurationError(
                f"{path} is {'a folder' if path.is_dir() else 'no plain file'}, where a run keeps a file: restore that "
                "from a copy."
            )


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that whoever reads it, also after a crash, finds all of the old or all of the new.

    One that cannot be written leaves no draft behind. Symbolic links are replaced, not followed.
    """
    draft = path.with_name(path.name + ".tmp")
    draft.unlink(missing_ok=True)
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)

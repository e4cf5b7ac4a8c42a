"""Where a command may put what it makes: over what it made before, never over evidence or what it reads.

A run's own files cannot be made again, and neither can a database or a file of questions: a report over one of them,
by a slip of the keyboard, would be the loss of a night's money.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ...adapters.base import ConfigurationError
from ..sql.databases import is_database
from .binding import JOURNAL, SUMMARY
from .lock import LOCK
from .manifest import NAME
from .scorings import FOLDER

KEPT: Final = (NAME, JOURNAL, "journal.torn", SUMMARY, LOCK, FOLDER)
"""What a run keeps in its folder, by name; the folders of its shards are runs themselves."""


def require_output_file(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Raise ConfigurationError unless `path` can become a file of output: a new one, or an older one that gives way.

    `inputs` are files that the command reads.
    """
    _require_outside(path)
    if path.exists() and not path.is_file():
        raise ConfigurationError(f"{path} is {'a folder' if path.is_dir() else 'no plain file'}: name a file.")
    if path.exists() and is_database(path):  # sources are such, and so is an audit; nothing that a command makes is
        raise ConfigurationError(f"{path} is a database, which no output may replace. Name another file.")
    if any(_is_same(path, each) for each in inputs):
        raise ConfigurationError(f"{path} is what is read here, which no output may replace. Name another file.")


def require_output_folder(path: Path) -> None:
    """Raise ConfigurationError unless files of output can stand in `path`: a folder, or none yet."""
    _require_outside(path)
    if path.exists() and not path.is_dir():
        raise ConfigurationError(f"{path} is a file: name a folder, new or there already.")


def _require_outside(path: Path) -> None:
    """Raise ConfigurationError where `path`, or what it leads to, is something that a run keeps."""
    place = Path(os.path.realpath(path))
    for folder in place.parents:
        if place.relative_to(folder).parts[0].casefold() in KEPT and _is_run(folder):
            raise ConfigurationError(
                f"{path} belongs to what the run in {folder} keeps, which no output may replace. Choose another "
                f"folder, or a name that is none of {', '.join(KEPT)}."
            )


def _is_run(folder: Path) -> bool:
    return (folder / NAME).exists() or (folder / JOURNAL).exists()


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):  # one is not there, or no name at all: whatever a run's options hold is asked
        return False

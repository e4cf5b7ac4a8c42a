"""How a run's journal belongs to its manifest: the journal's first line names the run.

    run      the run's own name, as its manifest has it

The journal is begun before the manifest is written. So a manifest without a journal has lost it, and with it all that
the run has spent, whenever a process may have been killed.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson

from ..adapters.base import ConfigurationError
from .errors import RunError
from .files import replace_file
from .journal import DamagedJournal, scan
from .journal.codec import encode

JOURNAL: Final = "journal.jsonl"
SUMMARY: Final = "summary.json"
RUN: Final = "run"
"""The kind of the line."""


def begin_journal(folder: Path, run: str) -> None:
    """Make the journal of a new run, durably, with its first line; one that a killed beginning left is replaced.

    Raises ConfigurationError when the folder holds a journal with more in it.
    """
    if _used(folder / JOURNAL):
        raise ConfigurationError(
            f"{folder} holds a journal without its manifest.json. Restore it, or choose another folder."
        )
    replace_file(folder / JOURNAL, encode({"k": RUN, "run": run}))


def require_journal(folder: Path, run: str) -> None:
    """Raise RunError unless `folder` holds the journal of `run`; reads its first line only."""
    path = folder / JOURNAL
    first = next(scan(path), None) if path.exists() else None
    if first is None:
        raise RunError(
            f"{path} is {'empty' if path.exists() else 'gone'}, and with it every answer of this run and what "
            f"they cost{_spent(folder)}. To go on would pay for all of them again: restore the file from a copy, or "
            f"start a new run in another folder."
        )
    if first["k"] != RUN or first["run"] != run:
        raise RunError(
            f"{path} is not the journal of the run that the manifest beside it names ({run}): one of the two came "
            f"from another folder. Restore the one that belongs here from a copy, or start a new run in another folder."
        )


def _used(journal: Path) -> bool:
    """Return whether a journal holds more than the first line."""
    try:
        return journal.exists() and [line["k"] for line in islice(scan(journal), 2)] not in ([], [RUN])
    except DamagedJournal:
        return True


def _spent(folder: Path) -> str:
    """Return what the summary of the latest part says of the cost; nothing where there is none that can be read."""
    try:
        said: dict[str, Any] = orjson.loads((folder / SUMMARY).read_bytes())
        return f" (${said['known_usd']} spent and ${said['exposed_usd']} exposed, by {SUMMARY})"
    except (OSError, ValueError, TypeError, KeyError):
        return ""

"""How a run's journal belongs to its manifest: the journal's first line names the run.

    run      the run's own name, as its manifest has it

The journal is begun before the manifest is written. So a manifest without a journal has lost it, and with it all that
the run has spent, whenever a process may have been killed. The summary of a part that ended says how long the journal
was then: a chain of lines cannot tell that its last ones were taken away.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

import orjson

from ...adapters.base import ConfigurationError
from ..errors import RunError
from ..journal import DamagedJournal, scan
from ..journal.codec import encode
from ..system.files import replace_file, require_plain

JOURNAL: Final = "journal.jsonl"
SUMMARY: Final = "summary.json"
JOURNAL_BYTES: Final = "journal_bytes"
"""The summary's field for the length of the journal that it goes with."""
RUN: Final = "run"
"""The kind of the line."""


def begin_journal(folder: Path, run: str) -> None:
    """Make the journal of a new run, durably, with its first line; one that a killed beginning left is replaced.

    Raises ConfigurationError when the folder holds a journal with more in it.
    """
    require_plain(folder, [JOURNAL])
    if _used(folder / JOURNAL):
        raise ConfigurationError(
            f"{folder} holds a journal without its manifest.json. Restore it, or choose another folder."
        )
    replace_file(folder / JOURNAL, encode({"k": RUN, "run": run}))


def require_journal(folder: Path, run: str) -> None:
    """Raise RunError unless `folder` holds the journal of `run`, as long as it was; reads its first line only."""
    path = folder / JOURNAL
    said = _summary(folder)
    first = next(scan(path), None) if path.exists() else None
    if first is None:
        raise RunError(
            f"{path} is {'empty' if path.exists() else 'gone'}, and with it every answer of this run and what "
            f"they cost{_spent(said)}. To go on would pay for all of them again: restore the file from a copy, or "
            f"start a new run in another folder."
        )
    if first["k"] != RUN or first["run"] != run:
        raise RunError(
            f"{path} is not the journal of the run that the manifest beside it names ({run}): one of the two came "
            f"from another folder. Restore the one that belongs here from a copy, or start a new run in another folder."
        )
    lost = said[JOURNAL_BYTES] - path.stat().st_size if isinstance(said.get(JOURNAL_BYTES), int) else 0
    if lost > 0:
        raise RunError(
            f"{path} is {lost:,} bytes shorter than when the run ended last, and answers may be gone with what "
            f"they cost{_spent(said)}: {_what_is_left(path)}"
        )


def _what_is_left(journal: Path) -> str:
    """Say what became of a journal that is shorter than it was, and what can be done: this reads all of it."""
    try:
        for _ in scan(journal):
            pass
    except DamagedJournal as error:
        return (
            f"lines were removed or changed in it, from the line at byte {error.offset} on. Restore it from a copy, or "
            "start a new run in another folder; nothing was changed."
        )
    return (
        "lines were removed at its end. Restore it from a copy. What is left is whole: to go on with that, and to pay "
        f"once more for what is gone, delete {SUMMARY}."
    )


def _used(journal: Path) -> bool:
    """Return whether a journal holds more than the first line."""
    try:
        return journal.exists() and [line["k"] for line in islice(scan(journal), 2)] not in ([], [RUN])
    except DamagedJournal:
        return True


def _summary(folder: Path) -> dict[str, Any]:
    """Return the summary of the latest part; nothing where there is none that can be read."""
    try:
        said: object = orjson.loads((folder / SUMMARY).read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", said) if isinstance(said, dict) else {}


def _spent(said: Mapping[str, Any]) -> str:
    """Return what a summary says of the cost; nothing where it does not."""
    if "known_usd" not in said or "exposed_usd" not in said:
        return ""
    return f" (${said['known_usd']} spent and ${said['exposed_usd']} exposed, by {SUMMARY})"

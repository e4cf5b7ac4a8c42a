"""A run that is cut into shards, on disk: the manifest of the whole, and beside it a run folder for every shard.

    DIR/manifest.json    what was asked, and into how many shards it is cut
    DIR/shard-0, …       a run folder each, with a journal of its own
    DIR/trouble.txt      while the run goes on: what keeps all shards waiting, if anything does

The shards' folders are made before the manifest of the whole is. So a shard that is not there was lost, whenever a
process may have been killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from ...adapters.base import Json
from ..errors import RunError
from ..folder.lock import RunLock, holder
from ..folder.manifest import NAME, Manifest, open_or_create
from ..system.files import replace_file

TROUBLE: Final = "trouble.txt"

PLAN: Final = "plan"
"""The setting of the whole that counts each shard's dialogues by model: a shard itself says so once it is at work."""


def shard_folder(folder: Path, index: int) -> Path:
    """Return the run folder of a shard of the run in `folder`."""
    return folder / f"shard-{index}"


def shards_of(folder: Path, manifest: Manifest) -> list[Path]:
    """Return the folders of the shards of the run in `folder`; none where it is not cut, or is a shard itself."""
    identity = manifest.identity
    shards: int = 0 if "shard" in identity else identity.get("shards", 0)
    return [shard_folder(folder, index) for index in range(shards)]


def open_whole(folder: Path, identity: Mapping[str, Json], settings: Mapping[str, Json], shards: int) -> Manifest:
    """Return the manifest of the whole run in `folder`, made now, with its shards' folders, if the folder is new.

    The caller holds the folder's lock. Raises as `manifest.open_or_create` does, and RunError when a shard is gone.
    """
    return open_or_create(
        folder, identity, settings, partial(_begin, identity, settings, shards), partial(_require, shards)
    )


def _begin(identity: Mapping[str, Json], settings: Mapping[str, Json], shards: int, folder: Path, run: str) -> None:
    for index in range(shards):
        own = shard_folder(folder, index)
        with RunLock(own):
            open_or_create(own, {**identity, "shard": index}, settings)


def _require(shards: int, folder: Path, run: str) -> None:
    for index in range(shards):
        if not (shard_folder(folder, index) / NAME).exists():
            raise RunError(
                f"{shard_folder(folder, index)} is gone, and with it a part of this run's answers and of what they "
                "cost. To go on would pay for them again: restore the folder from a copy, or start a new run."
            )


def leave_word(folder: Path, trouble: str) -> None:
    """Leave word of what keeps the shards of the run in `folder` waiting; empty: nothing does."""
    with suppress(OSError):  # a full disk: those who look at the run's own lines are told all the same
        if trouble:
            replace_file(folder / TROUBLE, trouble.encode())
        else:
            (folder / TROUBLE).unlink(missing_ok=True)


def trouble_of(folder: Path) -> str:
    """Return what keeps the shards waiting of the run in `folder`; a process that is gone may have left word of it."""
    with suppress(OSError):
        return (folder / TROUBLE).read_text("utf-8") if holder(folder) else ""
    return ""

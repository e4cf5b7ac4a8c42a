"""The embedded default: our sessions over the synthetic look-alikes, built once and kept in the cache."""

from __future__ import annotations

from pathlib import Path

from ...engine.system.cache import built_once
from .. import synthetic
from ..gold import GoldRunner
from .generator import generate
from .sessions import DATABASES, write_sessions

VERSION = 1
"""Raise it whenever the generator would build other sessions from the same databases; a test holds their digest."""


def embedded_place(cache: Path | None = None) -> Path:
    """Return where the embedded session file stands in the cache, built or not."""
    folder = synthetic.place("northwind", cache).parent
    return folder / f"enterprisemem-synthetic-v{VERSION}.json"


def embedded_sessions(cache: Path | None = None) -> Path:
    """Return the embedded session file, first building it and its databases when they are not in the cache (10 s)."""

    def build(path: Path) -> None:
        with GoldRunner({name: synthetic.ensure(name, cache) for name in DATABASES.values()}) as runner:
            sessions, _ = generate(runner)
        write_sessions(path, sessions)

    return built_once(embedded_place(cache), build)

"""The embedded default: our triplets over the synthetic look-alikes, built once and kept in the cache."""

from __future__ import annotations

from pathlib import Path

from ...engine.cache import built_once
from .. import synthetic
from .files import write_triplets
from .triplets.build import generate
from .triplets.library import DATABASES

VERSION = 1
"""Raise it whenever the templates would build other triplets from the same databases; a test holds their digest."""


def embedded_place(cache: Path | None = None) -> Path:
    """Return where the embedded file of triplets stands in the cache, built or not."""
    return synthetic.place(DATABASES[0], cache).parent / f"tide-synthetic-v{VERSION}.json"


def embedded_triplets(cache: Path | None = None) -> Path:
    """Return the embedded file of triplets, first building it and its databases when they are not in the cache."""

    def build(path: Path) -> None:
        write_triplets(path, generate({name: synthetic.ensure(name, cache) for name in DATABASES}))

    return built_once(embedded_place(cache), build)

"""The embedded default: our triplets over the synthetic look-alikes, built once and kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ...engine.system.cache import built_once
from .. import synthetic
from .files import write_triplets
from .triplets.build import generate
from .triplets.library import DATABASES


def embedded_place(cache: Path | None = None) -> Path:
    """Return where the embedded file of triplets stands in the cache, built or not.

    Its name follows from what it is built from, so that no change of templates or code leaves a stale one behind.
    """
    package = files(__name__.rpartition(".")[0])
    return synthetic.place(DATABASES[0], cache).parent / f"tide-synthetic-{build_digest(package)}.json"


def embedded_triplets(cache: Path | None = None) -> Path:
    """Return the embedded file of triplets, first building it and its databases when they are not in the cache."""

    def build(path: Path) -> None:
        write_triplets(path, generate({name: synthetic.ensure(name, cache) for name in DATABASES}))

    return built_once(embedded_place(cache), build)


def build_digest(package: Traversable) -> str:
    """Return a digest of what decides the set: templates, code, the look-alikes' version, and the writer of SQL.

    `package` is the folder of this module: all code in it counts and all of `triplets`, what runs dialogues does not.
    """
    digest = hashlib.sha256(f"{synthetic.VERSION} {version('sqlglot')}".encode())
    for source in _sources(package):
        digest.update(f"\0{source.name}\0".encode() + source.read_bytes())
    return digest.hexdigest()[:12]


def _sources(package: Traversable) -> Iterator[Traversable]:
    for folder in (package, package / "triplets"):
        found = (each for each in folder.iterdir() if each.name.endswith((".py", ".toml")))
        yield from sorted(found, key=lambda each: each.name)

"""`packages.toml` as values: which packages make which variant of the model, and the hashes to expect."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec


class Package(msgspec.Struct, frozen=True):
    """One package: its pinned requirement, its size, and the files used of it with their sha256."""

    requirement: str
    megabytes: int
    files: dict[str, str]


class Variant(msgspec.Struct, frozen=True):
    """One build of the model; `model` and `tokenizer` are paths inside the packages."""

    packages: tuple[str, ...]
    model: str
    tokenizer: str
    model_sha256: str
    tolerance: float


class Model(msgspec.Struct, frozen=True):
    """What holds for every variant."""

    default: str
    license: str


class Check(msgspec.Struct, frozen=True):
    """A sentence and the first components of its published embedding."""

    sentence: str
    vector: tuple[float, ...]


class Catalogue(msgspec.Struct, frozen=True):
    """The whole file."""

    model: Model
    check: Check
    packages: dict[str, Package]
    variants: dict[str, Variant]

    def variant_of(self, model_sha256: str) -> str | None:
        """Return the name of the variant with this file, or None when it is not one of ours."""
        return next((name for name, variant in self.variants.items() if variant.model_sha256 == model_sha256), None)


@cache
def catalogue() -> Catalogue:
    """Return the catalogue that ships with the package."""
    text = files(__name__.rpartition(".")[0]).joinpath("packages.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Catalogue)

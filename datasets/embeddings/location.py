"""Where the model's files are, and which files they are."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...adapters.base import ConfigurationError
from ...engine.system.cache import cache_folder
from ...engine.system.digests import file_digest

FOLDER_VARIABLE = "TURNTIDE_MINILM"
NAME = "all-MiniLM-L6-v2"


def default_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder that `turntide models install` fills."""
    return cache_folder(environ) / "models" / NAME


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model in the usual ONNX layout (`model.onnx`, `tokenizer.json`), known by the hashes of both."""

    folder: Path
    model_sha256: str
    tokenizer_sha256: str

    @classmethod
    def read(cls, folder: Path) -> ModelFiles:
        """Hash the files in `folder`; raises FileNotFoundError when one is missing."""
        return cls(folder, file_digest(folder / "model.onnx"), file_digest(folder / "tokenizer.json"))

    @property
    def key(self) -> str:
        """One short name for the pair: vectors are cached under it."""
        return hashlib.sha256(f"{self.model_sha256} {self.tokenizer_sha256}".encode()).hexdigest()[:32]


def find_model(environ: Mapping[str, str], folder: Path | None = None) -> ModelFiles:
    """Return the model in `folder`, else in `$TURNTIDE_MINILM`, else the installed one.

    A folder that was named is never replaced by another. Raises ConfigurationError that says what to do.
    """
    named = folder or (Path(environ[FOLDER_VARIABLE]) if environ.get(FOLDER_VARIABLE) else None)
    try:
        return ModelFiles.read(named or default_folder(environ))
    except OSError as error:
        where = f"in {named}" if named else "installed"
        raise ConfigurationError(
            f"{NAME} is not {where} ({error.strerror}: {error.filename}). Run `turntide models install`, or name a"
            f" folder with model.onnx and tokenizer.json in {FOLDER_VARIABLE}; `--embedder lexical` needs no model."
        ) from None

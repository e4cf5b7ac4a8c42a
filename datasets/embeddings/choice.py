"""How an embedder is chosen: by its name, and none in place of another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...adapters.base import ConfigurationError
from .base import Embedder


def open_embedder(name: str, environ: Mapping[str, str], folder: Path | None = None) -> Embedder:
    """Return the embedder called `name`: `minilm`, from `folder` when one is given, or `lexical`.

    Raises ConfigurationError that says what to do when it is unknown or not installed: none stands in for another.
    """
    from .lexical import Lexical
    from .minilm import MiniLM

    if name == "minilm":
        return MiniLM.open(environ, folder)
    if name == "lexical":
        return Lexical()
    raise ConfigurationError(f"no embedder is called {name!r}. Choose minilm (all-MiniLM-L6-v2) or lexical.")

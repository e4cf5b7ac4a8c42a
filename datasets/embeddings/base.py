"""What an embedder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...adapters.base import Json

DIMENSIONS = 384

Vector: TypeAlias = NDArray[np.float32]
"""One unit vector (384,), or a stack of them (n, 384)."""


class Embedder(Protocol):
    """Turns texts into unit vectors. A vector is a pure function of (embedder identity, text)."""

    @property
    def name(self) -> str:
        """The name it is chosen and reported by."""
        ...

    def identity(self) -> dict[str, Json]:
        """Return what decides the vectors: it goes into the manifest."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Return one unit vector per text, (n, 384) float32, in the order of `texts`.

        Stops the dialogue (Unfinished, infrastructure) when they cannot be had: never vectors that are merely worse.
        """
        ...

    async def aclose(self) -> None:
        """Let go of processes and files."""
        ...


def storable(text: str) -> str:
    """Return `text` with lone surrogates replaced, so that it can be encoded."""
    return text.encode("utf-8", "replace").decode()

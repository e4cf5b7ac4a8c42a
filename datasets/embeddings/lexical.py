"""A lexical embedder: hashed words and letter trigrams. No model, no file; its ranking is by shared wording alone."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from ...adapters.base import Json
from .base import DIMENSIONS, Vector, storable

VERSION = 1
WORD = re.compile(r"\w+")


class Lexical:
    """Feature hashing with signs (Weinberger et al. 2009): words count 1, their letter trigrams 1/4."""

    name = "lexical"

    def __init__(self) -> None:
        self._known: dict[str, Vector] = {}

    def identity(self) -> dict[str, Json]:
        """Return name and version; a change of the features is a new version."""
        return {"name": self.name, "version": VERSION}

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Return (n, 384) float32 unit vectors; a text without a word gets the first basis vector."""
        return np.stack([self._vector(text) for text in texts]) if texts else np.empty((0, DIMENSIONS), np.float32)

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def _vector(self, text: str) -> Vector:
        if text not in self._known:
            sums = np.zeros(DIMENSIONS)
            for feature, weight in _features(text):
                code = zlib.crc32(storable(feature).encode())
                sums[code % DIMENSIONS] += weight if code >> 31 else -weight
            if not sums.any():
                sums[0] = 1.0
            self._known[text] = (sums / np.linalg.norm(sums)).astype(np.float32)
        return self._known[text]


def _features(text: str) -> Iterator[tuple[str, float]]:
    for match in WORD.finditer(text.casefold()):
        word = match.group()
        yield word, 1.0
        padded = f"^{word}$"
        yield from ((f"#{padded[i : i + 3]}", 0.25) for i in range(len(padded) - 2))

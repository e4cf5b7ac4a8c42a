"""Semantic memory: two fixed notes per source, never written to (paper §5.6, Appendix A.5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...embeddings.base import Embedder, Vector
from .ledger import similarities


class SemanticMemory:
    """The notes of every source with their vectors."""

    def __init__(self, notes: Mapping[str, tuple[str, ...]], embedder: Embedder) -> None:
        self._notes = notes
        self._embedder = embedder

    async def nearest(self, source: str, vector: Vector, k: int) -> tuple[str, ...]:
        """Return the `k` notes of `source` most similar to the question's `vector`; the first one wins a tie."""
        notes = self._notes[source]
        matrix = (await self._embedder.embed(notes)).astype(np.float64)
        order: list[int] = np.argsort(-similarities(matrix, vector), kind="stable").tolist()
        return tuple(notes[row] for row in order[:k])

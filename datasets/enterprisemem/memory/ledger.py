"""The episodes of one condition-run by plan position, and the ranking that every episodic back end shares.

A benchmark asks the same questions again and again (187 distinct ones in 1,400 turns), so vectors are kept per distinct
text, and a text's similarity is spread over the episodes that asked it. Similarity is a float64 dot product rounded to
1e-5, far above the noise of summation order; among equals, the newest in plan order comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...embeddings.base import DIMENSIONS, Vector
from .episode import Episode
from .horizon import Horizon

DECIMALS = 5
BLOCK = 256
"""Rows per product: small enough that BLAS does not wake a thread per processor for microseconds of work."""

Similarities = NDArray[np.float64]


class TextIndex:
    """Distinct texts, numbered in the order they came, with their unit vectors."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._matrix = np.empty((64, DIMENSIONS))

    def number(self, text: str, vector: Vector) -> int:
        """Return the text's number, taking it in with its vector (384,) if it is new."""
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
            if number == len(self._matrix):
                self._matrix = np.concatenate((self._matrix, np.empty_like(self._matrix)))
            self._matrix[number] = vector
        return number

    def vectors(self, numbers: range) -> Vector:
        """Return the vectors of consecutive texts, (n, 384)."""
        return self._matrix[numbers.start : numbers.stop].astype(np.float32)

    def similarities(self, vector: Vector, among: Sequence[int] | None = None) -> Similarities:
        """Return the rounded cosine of every text with `vector` (384,); minus infinity for those not in `among`."""
        if among is None:
            return similarities(self._matrix[: len(self.texts)], vector)
        spread = np.full(len(self.texts), -np.inf)
        spread[among] = similarities(self._matrix[among], vector)
        return spread


def similarities(matrix: NDArray[np.float64], vector: Vector) -> Similarities:
    """Return the rounded cosine of each row of `matrix` (n, 384) with `vector` (384,); all are unit vectors."""
    exact = vector.astype(np.float64)
    blocks = [matrix[row : row + BLOCK] @ exact for row in range(0, len(matrix), BLOCK)]
    return np.round(np.concatenate(blocks), DECIMALS) if blocks else np.empty(0)


class Ledger:
    """What was remembered, where, and under which text's number."""

    def __init__(self) -> None:
        self._episodes: dict[int, Episode] = {}
        self._texts = np.zeros(64, np.intp)
        self._complete = 0

    def add(self, episode: Episode, text: int) -> None:
        """Take in an episode whose question has the number `text`.

        The same one again changes nothing; another one at its place is a ValueError.
        """
        position = episode.position
        if self._episodes.setdefault(position, episode) != episode:
            raise ValueError(f"two different episodes at plan position {position}")
        while position >= len(self._texts):
            self._texts = np.concatenate((self._texts, np.zeros_like(self._texts)))
        self._texts[position] = text
        while self._complete in self._episodes:
            self._complete += 1

    def require(self, horizon: Horizon) -> None:
        """Raise RuntimeError unless everything that `horizon` may see is here: else the sessions ran out of order."""
        own = range(horizon.start, horizon.position)
        if self._complete < horizon.before or not all(position in self._episodes for position in own):
            raise RuntimeError(f"the turn at plan position {horizon.position} was reached before all that it may see")

    def own(self, horizon: Horizon) -> tuple[Episode, ...]:
        """Return the session's own earlier turns, newest first."""
        return tuple(self._episodes[position] for position in range(horizon.position - 1, horizon.start - 1, -1))

    def nearest(self, similarity: Similarities, k: int, horizon: Horizon) -> list[tuple[float, Episode]]:
        """Return the `k` visible episodes of highest `similarity` (by text number), the newest first among equals."""
        own = np.arange(horizon.start, horizon.position)
        newest_first = np.concatenate((np.arange(horizon.before), own))[::-1]
        values = similarity[self._texts[newest_first]]
        best = np.argsort(-values, kind="stable")[:k]
        return [(float(values[row]), self._episodes[int(newest_first[row])]) for row in best]

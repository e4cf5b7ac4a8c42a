"""Episodic memory: the most similar earlier turns of a condition-run (paper §5.5, §5.6). The exact in-process index."""

from __future__ import annotations

from typing import Protocol

from ...embeddings.base import Vector
from .episode import Episode
from .horizon import Horizon
from .ledger import Ledger, TextIndex


class EpisodicMemory(Protocol):
    """The episodes of one condition-run. Every back end returns the same episodes in the same order.

    No filter by source, and turns that are in working memory are not left out: the paper names neither.
    """

    def add(self, episode: Episode, vector: Vector) -> None:
        """Remember a turn under its question's unit vector (384,). Adding it again changes nothing."""
        ...

    def own(self, horizon: Horizon) -> tuple[Episode, ...]:
        """Return the session's own earlier turns, newest first."""
        ...

    async def nearest(self, vector: Vector, k: int, horizon: Horizon) -> tuple[Episode, ...]:
        """Return the `k` visible episodes whose questions are most similar: best first, among equals the newest.

        Raises RuntimeError when something that `horizon` may see is not here yet; stops the dialogue (Unfinished,
        infrastructure) when a server fails.
        """
        ...


class ExactEpisodic:
    """Every distinct question is compared, in one matrix product."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._index = TextIndex()

    def add(self, episode: Episode, vector: Vector) -> None:
        """See EpisodicMemory."""
        self._ledger.add(episode, self._index.number(episode.question, vector))

    def own(self, horizon: Horizon) -> tuple[Episode, ...]:
        """See EpisodicMemory."""
        self._ledger.require(horizon)
        return self._ledger.own(horizon)

    async def nearest(self, vector: Vector, k: int, horizon: Horizon) -> tuple[Episode, ...]:
        """See EpisodicMemory."""
        self._ledger.require(horizon)
        return tuple(episode for _, episode in self._ledger.nearest(self._index.similarities(vector), k, horizon))

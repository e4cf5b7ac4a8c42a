"""One condition-run's memory: what a turn is given, and what it leaves behind (paper §5.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..conditions import Condition
from .episode import Episode, StateValue
from .horizon import Horizon
from .resolve import resolve
from .working import WorkingMemory

if TYPE_CHECKING:
    from ...embeddings.base import Embedder
    from .episodic import EpisodicMemory
    from .semantic import SemanticMemory


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a prompt shows besides schema and question. All parts are empty where the condition has no such memory.

    `recent` goes from the oldest turn to the newest, `episodes` from the most similar to the least.
    """

    recent: tuple[Episode, ...] = ()
    episodes: tuple[Episode, ...] = ()
    resolved: tuple[tuple[str, StateValue], ...] = ()
    hints: tuple[str, ...] = ()


class Memory:
    """The memories that a condition uses, for one condition-run (one model, one condition, one repeat).

    `name` tells the condition-run from the others in working memory. `episodic` and `semantic` are given when
    the condition has them, and `embedder` with either.
    """

    def __init__(
        self,
        condition: Condition,
        name: str,
        working: WorkingMemory,
        *,
        embedder: Embedder | None = None,
        episodic: EpisodicMemory | None = None,
        semantic: SemanticMemory | None = None,
    ) -> None:
        wanted = (condition.episodic_top_k > 0, condition.semantic_top_k > 0)
        if wanted != (episodic is not None, semantic is not None) or any(wanted) != (embedder is not None):
            raise ValueError(f"condition {condition.name} takes other memories than those given")
        self._condition = condition
        self._name = name
        self._working = working
        self._embedder = embedder
        self._episodic = episodic
        self._semantic = semantic
        self._restored: list[Episode] = []
        self._catching_up = asyncio.Lock()

    async def recall(
        self, session: str, turn: int, horizon: Horizon, source: str, question: str, keys: Sequence[str]
    ) -> Recalled:
        """Return what turn `turn` (from 1) of `session` may know. Raises Unfinished when a memory fails."""
        condition = self._condition
        if condition.stateless:
            return Recalled()
        recent = await self._working.recent(self._scope(session), turn, condition.window)
        if self._embedder is None:
            return Recalled(recent, resolved=tuple(resolve(keys, recent).items()))
        vector = (await self._embedder.embed([question]))[0]
        own: tuple[Episode, ...] = ()
        episodes: tuple[Episode, ...] = ()
        if self._episodic is not None:
            await self._catch_up(self._embedder, self._episodic)
            own = self._episodic.own(horizon)
            episodes = await self._episodic.nearest(vector, condition.episodic_top_k, horizon)
        hints: tuple[str, ...] = ()
        if self._semantic is not None:
            hints = await self._semantic.nearest(source, vector, condition.semantic_top_k)
        return Recalled(recent, episodes, tuple(resolve(keys, recent, own).items()), hints)

    async def remember(self, episode: Episode) -> None:
        """Keep a finished turn, in every memory that the condition has."""
        if self._condition.window:
            await self._working.remember(self._scope(episode.session), episode)
        if self._episodic is not None and self._embedder is not None:
            self._episodic.add(episode, (await self._embedder.embed([episode.question]))[0])

    def restore(self, episode: Episode) -> None:
        """Take in a turn of a session that had ended before this process: episodic memory alone may still want it."""
        if self._episodic is not None:
            self._restored.append(episode)

    async def end(self, session: str) -> None:
        """Clear the working memory of a session that is over."""
        if self._condition.window:
            await self._working.clear(self._scope(session))

    def _scope(self, session: str) -> str:
        return f"{self._name}/{session}"

    async def _catch_up(self, embedder: Embedder, episodic: EpisodicMemory) -> None:
        """Embed and add what was restored: `restore` cannot, since `Experiment.ended` is no coroutine."""
        async with self._catching_up:
            vectors = await embedder.embed([episode.question for episode in self._restored])
            for episode, vector in zip(self._restored, vectors, strict=True):
                episodic.add(episode, vector)
            self._restored.clear()

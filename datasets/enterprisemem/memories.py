"""The memories of all condition-runs of a run, opened at first use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from ...adapters.base import Json
from . import prompts
from .conditions import Condition
from .memory.episode import Episode
from .memory.recall import Memory
from .memory.working import WorkingMemory

if TYPE_CHECKING:
    from ..embeddings.base import Embedder
    from .memory.chroma_store import ChromaStore
    from .memory.episodic import EpisodicMemory

Run: TypeAlias = tuple[str, str, int]
"""A condition-run: model, condition, repeat. Episodes are shared within it and nowhere else (section 5.6)."""


@dataclass(slots=True)
class Memories:
    """Where memory is kept. Which store it is decides no answer: every one gives the same episodes in the same order.

    `embedder` is None when no condition of the run retrieves anything; `chroma` None for the exact index.
    """

    namespace: str
    working: WorkingMemory
    embedder: Embedder | None = None
    chroma: ChromaStore | None = None
    _runs: dict[Run, Memory] = field(default_factory=dict[Run, Memory])
    _restored: dict[Run, list[Episode]] = field(default_factory=dict[Run, list[Episode]])

    def identity(self) -> dict[str, Json]:
        """Return what of memory decides the prompts."""
        return {"embedder": self.embedder.identity() if self.embedder else None}

    async def embed(self, questions: Iterable[str]) -> None:
        """Embed what dialogues retrieve by, and the hints; nothing where no condition retrieves. Raises Unfinished."""
        if self.embedder:
            hints = chain.from_iterable(prompts.prompts().hints.values())
            await self.embedder.embed(list(dict.fromkeys(chain(questions, hints))))

    def of(self, run: Run, condition: Condition) -> Memory:
        """Return the memory of a condition-run, with what earlier parts of the run left in it."""
        if run not in self._runs:
            episodic = self._episodic(run) if condition.episodic_top_k else None
            memory = self._runs[run] = self._open(run, condition, episodic)
            for episode in self._restored.pop(run, ()):
                memory.restore(episode)
        return self._runs[run]

    def restored(self, run: Run, episode: Episode) -> None:
        """Take in a turn of a session that ended in an earlier part of the run."""
        if run in self._runs:
            self._runs[run].restore(episode)
        else:
            self._restored.setdefault(run, []).append(episode)

    def _open(self, run: Run, condition: Condition, episodic: EpisodicMemory | None) -> Memory:
        semantic = None
        if condition.semantic_top_k and self.embedder:
            from .memory.semantic import SemanticMemory  # numpy, which the conditions without retrieval never need

            semantic = SemanticMemory(prompts.prompts().hints, self.embedder)
        retrieves = bool(condition.episodic_top_k or condition.semantic_top_k)
        return Memory(
            condition,
            "/".join((self.namespace, *map(str, run))),
            self.working,
            embedder=self.embedder if retrieves else None,
            episodic=episodic,
            semantic=semantic,
        )

    def _episodic(self, run: Run) -> EpisodicMemory:
        if self.chroma is None:
            from .memory.episodic import ExactEpisodic

            return ExactEpisodic()
        from .memory.chroma import ChromaEpisodic

        return ChromaEpisodic(self.chroma, "/".join((self.namespace, *map(str, run))))

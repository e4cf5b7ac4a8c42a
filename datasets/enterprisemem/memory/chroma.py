"""Episodic memory in ChromaDB, as the paper's agent keeps it (§5.6), with the same answers as the exact index.

We embed, Chroma stores and finds. One entry stands for each distinct question, because hundreds of equal ones would tie
and push each other out of any top k. What it finds are candidates: their similarities are computed again and spread
over the episodes by the rule that all back ends share, and more are asked for until no text left out can matter.
"""

from __future__ import annotations

import asyncio

import numpy as np

from ....engine.errors import Unfinished
from ...embeddings.base import Vector
from .chroma_store import ChromaCollection, ChromaStore
from .episode import Episode
from .horizon import Horizon
from .ledger import Ledger, TextIndex

FIRST_COUNT = 16
"""Distinct texts asked for at first; four times as many each time they do not settle it."""
MARGIN = 1e-4
"""How far Chroma's float32 order may be from the exact one."""

Waiting = tuple[Vector, int, "asyncio.Future[list[int]]"]


class ChromaEpisodic:
    """The episodes of one condition-run. See EpisodicMemory.

    Look-ups that come while one is on its way go together in the next request; new texts are sent ahead of them.
    """

    def __init__(self, store: ChromaStore, namespace: str) -> None:
        self._store = store
        self._namespace = namespace
        self._collection: ChromaCollection | None = None
        self._ledger = Ledger()
        self._index = TextIndex()
        self._sent = 0
        self._waiting: list[Waiting] = []
        self._pump: asyncio.Task[None] | None = None

    def add(self, episode: Episode, vector: Vector) -> None:
        """See EpisodicMemory. A new text reaches Chroma with the next look-up."""
        self._ledger.add(episode, self._index.number(episode.question, vector))

    def own(self, horizon: Horizon) -> tuple[Episode, ...]:
        """See EpisodicMemory."""
        self._ledger.require(horizon)
        return self._ledger.own(horizon)

    async def nearest(self, vector: Vector, k: int, horizon: Horizon) -> tuple[Episode, ...]:
        """See EpisodicMemory."""
        self._ledger.require(horizon)
        if not horizon.sees_anything:
            return ()
        count, known = FIRST_COUNT, len(self._index.texts)
        while True:
            candidates = await self._candidates(vector, min(count, known))
            everything = count >= known
            similarity = self._index.similarities(vector, None if everything else candidates)
            found = self._ledger.nearest(similarity, k, horizon)
            if everything or found[-1][0] > similarity[candidates].min() + MARGIN:
                return tuple(episode for _, episode in found)
            count *= 4

    async def _candidates(self, vector: Vector, count: int) -> list[int]:
        future: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._waiting.append((vector, count, future))
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        """Answer whoever waits, one request for all of them, until nobody does."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                answers = await self._ask(batch)
            except (Exception, Unfinished) as error:  # handed on to those who wait
                for _, _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, _, future), numbers in zip(batch, answers, strict=True):
                if not future.done():  # its dialogue was cancelled meanwhile
                    future.set_result(numbers)

    async def _ask(self, batch: list[Waiting]) -> list[list[int]]:
        """Send the new texts, then ask for everybody's candidates. The collection is made the first time."""
        if self._collection is None:
            self._collection = await self._store.collection(self._namespace)
        fresh = range(self._sent, len(self._index.texts))
        if fresh:
            vectors, texts = self._index.vectors(fresh), self._index.texts[fresh.start : fresh.stop]
            await self._collection.upsert(fresh, vectors, texts)
            self._sent = fresh.stop
        vectors = np.stack([vector for vector, _, _ in batch])
        return await self._collection.query(vectors, max(count for _, count, _ in batch))

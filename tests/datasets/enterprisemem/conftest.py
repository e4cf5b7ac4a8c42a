"""Episodes, memories and a talked-through dialogue for the tests of EnterpriseMem-Bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from turntide.datasets.embeddings.lexical import Lexical
from turntide.datasets.enterprisemem.conditions import Condition
from turntide.datasets.enterprisemem.memory.episode import Episode
from turntide.datasets.enterprisemem.memory.episodic import EpisodicMemory, ExactEpisodic
from turntide.datasets.enterprisemem.memory.recall import Memory
from turntide.datasets.enterprisemem.memory.semantic import SemanticMemory
from turntide.datasets.enterprisemem.memory.working import InProcessWorking, WorkingMemory
from turntide.datasets.enterprisemem.prompts import prompts
from turntide.engine.sql.outcome import Outcome

MakeEpisode = Callable[..., Episode]
MakeMemory = Callable[..., Memory]
ReadTurn = Callable[[str, int, int, Mapping[str, Any]], Episode]


@pytest.fixture
def make_episode() -> MakeEpisode:
    """An episode at a plan position; everything else has a default."""

    def make(position: int, question: str = "q", **fields: Any) -> Episode:
        values: dict[str, Any] = {"session": "S", "turn": position + 1, "sql": "SELECT 1", "result": "0 rows"}
        return Episode(position=position, question=question, **{**values, **fields})

    return make


@pytest.fixture
def make_memory() -> MakeMemory:
    """The memories that a condition needs, in process and with the lexical embedder."""

    def make(
        condition: Condition, working: WorkingMemory | None = None, episodic: EpisodicMemory | None = None
    ) -> Memory:
        embedder = Lexical()
        return Memory(
            condition,
            f"model/{condition.name}",
            working or InProcessWorking(),
            embedder=embedder if condition.episodic_top_k or condition.semantic_top_k else None,
            episodic=(episodic or ExactEpisodic()) if condition.episodic_top_k else None,
            semantic=SemanticMemory(prompts().hints, embedder) if condition.semantic_top_k else None,
        )

    return make


@pytest.fixture
def read_turn() -> ReadTurn:
    """A turn of the fixture dialogues as the episode that it leaves behind."""

    def read(session: str, turn: int, position: int, entry: Mapping[str, Any]) -> Episode:
        outcome = None
        if "error" in entry:
            outcome = Outcome(status="runtime", message=entry["error"])
        elif entry["rows"] is not None:
            first = (tuple(entry["first"]),) if "first" in entry else ()
            outcome = Outcome(status="ok", rows=entry["rows"], excerpt=first)
        state = entry.get("state", {})
        return Episode.of(session, turn, position, entry["question"], sql=entry["sql"], outcome=outcome, state=state)

    return read

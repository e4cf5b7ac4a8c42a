"""Episodes and memories for the tests of EnterpriseMem-Bench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntide.datasets.embeddings.lexical import Lexical
from turntide.datasets.enterprisemem.conditions import Condition
from turntide.datasets.enterprisemem.memory.episode import Episode
from turntide.datasets.enterprisemem.memory.episodic import EpisodicMemory, ExactEpisodic
from turntide.datasets.enterprisemem.memory.recall import Memory
from turntide.datasets.enterprisemem.memory.semantic import SemanticMemory
from turntide.datasets.enterprisemem.memory.summary import NO_SQL, summarise
from turntide.datasets.enterprisemem.memory.working import InProcessWorking, WorkingMemory
from turntide.datasets.enterprisemem.prompts import prompts
from turntide.engine.sql.outcome import Outcome


def episode(position: int, question: str = "q", **fields: Any) -> Episode:
    """Return an episode at a plan position; everything else has a default."""
    values: dict[str, Any] = {"session": "S", "turn": position + 1, "sql": "SELECT 1", "result": "0 rows", **fields}
    return Episode(position=position, question=question, **values)


def memory(
    condition: Condition, working: WorkingMemory | None = None, episodic: EpisodicMemory | None = None
) -> Memory:
    """Return what a condition needs, in process and with the lexical embedder unless something else is given."""
    embedder = Lexical()
    return Memory(
        condition,
        f"model/{condition.name}",
        working or InProcessWorking(),
        embedder=embedder if condition.episodic_top_k or condition.semantic_top_k else None,
        episodic=(episodic or ExactEpisodic()) if condition.episodic_top_k else None,
        semantic=SemanticMemory(prompts().hints, embedder) if condition.semantic_top_k else None,
    )


def read_turn(session: str, turn: int, position: int, entry: Mapping[str, Any]) -> Episode:
    """Return what a turn of the fixture dialogues leaves behind."""
    outcome = None
    if "error" in entry:
        outcome = Outcome(status="runtime", message=entry["error"])
    elif entry["rows"] is not None:
        first = (tuple(entry["first"]),) if "first" in entry else ()
        outcome = Outcome(status="ok", rows=entry["rows"], excerpt=first)
    result = summarise(outcome) if outcome else NO_SQL
    state = entry.get("state", {})
    return episode(
        position, entry["question"], session=session, turn=turn, sql=entry["sql"], result=result, state=state
    )

"""The benchmark opened on its data: which dialogues there are, in which order, and how one is talked through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec

from ...adapters.base import Json
from ...engine.errors import RunError
from ...engine.unit import Context, Lane, Reference, Unit
from ..databases import SourceDatabase, identities, schema_text
from . import prompts
from .conditions import Condition
from .memories import Memories
from .memory.episode import Episode
from .memory.horizon import SessionOrder
from .memory.recall import Memory, Recalled
from .record import Plan, PlannedTurns, TurnRecord, read_record
from .scoring import Score, score
from .sessions import Session, Turn, turn_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything that decides a run's prompts, fixed."""

    sessions: tuple[Session, ...]
    sessions_sha256: str
    databases: Mapping[str, SourceDatabase]
    conditions: tuple[Condition, ...]
    order: SessionOrder
    state: bool


class EnterpriseMemExperiment:
    """See `engine.unit.Experiment`. Unit keys are `model/condition/session/repeat`."""

    name = "enterprisemem"
    auxiliary = ()
    record = TurnRecord

    def __init__(self, setup: Setup, memories: Memories) -> None:
        self._setup = setup
        self._memories = memories
        self.databases: Mapping[str, Path] = {name: source.path for name, source in setup.databases.items()}
        self._schemas = {name: schema_text(path) for name, path in self.databases.items()}
        self._places = {session.session_id: place for place, session in enumerate(setup.sessions)}
        self._starts = _starts(setup.sessions)
        self._conditions = {condition.name: condition for condition in setup.conditions}
        self._runs: dict[tuple[str, str, int], Memory] = {}

    def identity(self) -> dict[str, Json]:
        """Return the data, prompts, memories and orders that the requests follow from."""
        setup = self._setup
        return {
            "plan": cast("dict[str, Json]", msgspec.to_builtins(self.plan((), 1))),
            "sessions_sha256": setup.sessions_sha256,
            "databases": identities(setup.databases),
            "order": str(setup.order),
            "state": setup.state,
            **self._memories.identity(),
            **prompts.identity(),
        }

    def plan(self, models: Sequence[str], repeats: int) -> Plan:
        """Return what a run with these models plans."""
        setup = self._setup
        return Plan(
            models=tuple(models),
            conditions=tuple(condition.name for condition in setup.conditions),
            repeats=repeats,
            turns=tuple(_planned(setup.sessions)),
            synthetic=any(database.synthetic for database in setup.databases.values()),
        )

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        """Yield the condition-runs that share episodes first, each one long lane; then every other session alone."""
        by_length = sorted(self._setup.conditions, key=lambda condition: not condition.shares_episodes)
        for condition in by_length:
            for repeat in range(repeats):
                units = [self._unit(model, condition, session, repeat) for session in self._setup.sessions]
                wave = self._setup.order.wave
                if condition.shares_episodes and wave is not None:
                    yield [tuple(units[first : first + wave]) for first in range(0, len(units), wave)]
                else:
                    yield from ([(unit,)] for unit in units)

    async def prepare(self) -> None:
        """Embed every question and every hint at once: an embedder that is broken shows before a call."""
        await self._memories.embed(turn.question for session in self._setup.sessions for turn in session.turns)

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        """Talk one session through, turn by turn."""
        session = self._session(unit)
        memory = self._memory(unit)
        for turn in session.turns:
            recalled = await self._recall(memory, session, turn)
            messages = prompts.compose(
                session.source,
                self._schemas[session.database],
                recalled.recent,
                recalled.episodes,
                recalled.resolved,
                recalled.hints,
                turn.question,
            )
            answer = await ctx.ask(unit.model, messages)
            shown = [(episode, self._named(episode.session)) for episode in recalled.episodes]
            scored = await score(ctx, session, turn, answer, shown)
            ctx.record(**self._record(unit, session, turn, recalled, scored).fields())
            await memory.remember(self._episode(session, turn, scored.sql, scored.result))
        await memory.end(session.session_id)

    def references(self) -> Iterator[Reference]:
        """Yield gold and fallback of every turn."""
        for session in self._setup.sessions:
            for turn in session.turns:
                name = turn_id(session, turn)
                yield Reference(name, session.database, turn.ground_truth_sql)
                if turn.fallback_sql is not None:
                    yield Reference(f"{name} (fallback)", session.database, turn.fallback_sql)

    def expected(self, unit: Unit) -> Iterator[str]:
        """Yield the gold SQL of each turn."""
        return (turn.ground_truth_sql for turn in self._session(unit).turns)

    def ended(self, unit: Unit, records: Sequence[Mapping[str, Any]]) -> None:
        """Put an ended session's turns back into its condition-run's episodic memory."""
        if not self._conditions[unit.labels["condition"]].shares_episodes:
            return
        session = self._session(unit)
        if len(records) != len(session.turns):
            raise RunError(
                f"{unit.key} ended with {len(records)} records of {len(session.turns)} turns: no journal of ours says "
                "that. Restore it from a copy, or start a new run."
            )
        for turn, fields in zip(session.turns, records, strict=True):
            record = read_record(fields)
            self._memories.restored(_run_of(unit), self._episode(session, turn, record.sql, record.result))

    def _unit(self, model: str, condition: Condition, session: Session, repeat: int) -> Unit:
        return Unit(
            key=f"{model}/{condition.name}/{session.session_id}/{repeat}",
            item=session.session_id,
            model=model,
            turns=len(session.turns),
            repeat=repeat,
            labels={"condition": condition.name},
        )

    def _session(self, unit: Unit) -> Session:
        return self._named(unit.item)

    def _named(self, session: str) -> Session:
        return self._setup.sessions[self._places[session]]

    def _memory(self, unit: Unit) -> Memory:
        return self._memories.of(_run_of(unit), self._conditions[unit.labels["condition"]])

    async def _recall(self, memory: Memory, session: Session, turn: Turn) -> Recalled:
        place = self._places[session.session_id]
        horizon = self._setup.order.horizon(self._starts, place, turn.turn_number)
        keys = turn.referenced_context_keys
        return await memory.recall(session.session_id, turn.turn_number, horizon, session.source, turn.question, keys)

    def _episode(self, session: Session, turn: Turn, sql: str, result: str) -> Episode:
        return Episode(
            session=session.session_id,
            turn=turn.turn_number,
            position=self._starts[self._places[session.session_id]] + turn.turn_number - 1,
            question=turn.question,
            sql=sql,
            result=result,
            state=dict(turn.state_updates) if self._setup.state else {},
        )

    def _record(self, unit: Unit, session: Session, turn: Turn, recalled: Recalled, scored: Score) -> TurnRecord:
        return TurnRecord(
            model=unit.model,
            condition=unit.labels["condition"],
            session=session.session_id,
            cluster=session.content_key,
            source=session.source,
            tier=session.tier,
            turn=turn.turn_number,
            repeat=unit.repeat,
            critical=turn.memory_benefit_expected,
            category=scored.category,
            detail=scored.detail,
            agree=dict(scored.agree),
            fallback=scored.fallback,
            resolved=len(recalled.resolved),
            wanted=len(turn.referenced_context_keys),
            shown=tuple(episode.position for episode in recalled.episodes),
            echoed=scored.echoed,
            sql=scored.sql,
            result=scored.result,
        )


def _run_of(unit: Unit) -> tuple[str, str, int]:
    return unit.model, unit.labels["condition"], unit.repeat


def _starts(sessions: Iterable[Session]) -> list[int]:
    starts, position = list[int](), 0
    for session in sessions:
        starts.append(position)
        position += len(session.turns)
    return starts


def _planned(sessions: Iterable[Session]) -> Iterator[PlannedTurns]:
    counts: Counter[tuple[str, int, int]] = Counter()
    critical: Counter[tuple[str, int, int]] = Counter()
    for session in sessions:
        for turn in session.turns:
            kind = (session.source, session.tier, turn.turn_number)
            counts[kind] += 1
            critical[kind] += turn.memory_benefit_expected
    for kind, count in counts.items():
        yield PlannedTurns(*kind, count, critical[kind])

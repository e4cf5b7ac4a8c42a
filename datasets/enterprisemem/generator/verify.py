"""Phase 3: the benchmark's invariants (§3.2, §4.3) against the databases, failing at the first broken one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from ....adapters.base import ConfigurationError
from ...gold import GoldRunner
from ..sessions import Session, Turn, turn_id
from ..templates import derive
from .plan import LONG, SESSIONS, TURNS


class InvariantError(ConfigurationError):
    """The generated benchmark breaks an invariant; the message names it. Sessions like these are not written."""


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What held.

    `fallback_same` lists the turns whose gold and fallback results coincide: they cannot show contamination.
    """

    sessions: int
    turns: int
    memory_critical: int
    fallback_same: tuple[str, ...]


def verify(sessions: Sequence[Session], runner: GoldRunner) -> Verification:
    """Check every invariant and return what was counted, or raise InvariantError."""
    for check in _SHAPE:
        check(sessions)
    same = [turn_id(session, turn) for session in sessions for turn in session.turns if _runs(session, turn, runner)]
    for session in sessions:
        _follows(session, runner)
    return Verification(
        sessions=len(sessions),
        turns=sum(len(session.turns) for session in sessions),
        memory_critical=sum(sum(session.memory_critical()) for session in sessions),
        fallback_same=tuple(same),
    )


def _require(name: str, found: object, expected: object) -> None:
    if found != expected:
        raise InvariantError(f"invariant broken: {name} must be {expected}, found {found}")


def _counts(sessions: Sequence[Session]) -> None:
    _require("sessions per source and tier", Counter((s.source, s.tier) for s in sessions), Counter(SESSIONS))
    _require("all turns", sum(len(session.turns) for session in sessions), 1_400)
    for source, long in LONG.items():
        lengths = Counter(len(s.turns) for s in sessions if s.source == source and s.tier == 3)
        expected = Counter({10: long, 9: SESSIONS[source, 3] - long})
        _require(f"tier-3 sessions of {source} by turns", lengths, expected)
    for session in sessions:
        if session.tier < 3:
            _require(f"turns of {session.session_id}", len(session.turns), TURNS[session.tier])


def _criticality(sessions: Sequence[Session]) -> None:
    """Every turn but the first is memory-critical, its flags say so, and all that it needs was bound before."""
    for session in sessions:
        for turn, critical in zip(session.turns, session.memory_critical(), strict=True):
            flags = (critical, turn.memory_benefit_expected, turn.requires_prior_context, turn.fallback_sql is not None)
            _require(f"memory-critical flags of {turn_id(session, turn)}", flags, (turn.turn_number > 1,) * 4)
    _require("memory-critical turns", sum(sum(session.memory_critical()) for session in sessions), 1_100)


def _distinct(sessions: Sequence[Session]) -> None:
    _require("session ids", len({session.session_id for session in sessions}), len(sessions))
    _require("sessions distinct in content", len({session.content_key for session in sessions}), len(sessions))


_SHAPE: tuple[Callable[[Sequence[Session]], None], ...] = (_counts, _criticality, _distinct)


def _runs(session: Session, turn: Turn, runner: GoldRunner) -> bool:
    """Require that gold and fallback run and say something; return whether their results coincide."""
    gold = runner.result(session.database, turn.ground_truth_sql)
    other = runner.result(session.database, turn.fallback_sql) if turn.fallback_sql else None
    for name, result in (("gold", gold), ("fallback", other)):
        if result and result.error:
            raise InvariantError(f"invariant broken: the {name} of {turn_id(session, turn)} fails: {result.error}")
        if result and result.blank:
            raise InvariantError(f"invariant broken: the {name} of {turn_id(session, turn)} gives no value")
    return other is not None and other.digest == gold.digest


def _follows(session: Session, runner: GoldRunner) -> None:
    """Require that each gold follows from its question and what the session said before: nothing is hidden."""
    for turn, sql in zip(session.turns, derive(session), strict=True):
        derived = runner.result(session.database, sql).digest if sql else "no answer"
        gold = runner.result(session.database, turn.ground_truth_sql).digest
        if derived != gold:
            raise InvariantError(
                f"invariant broken: the gold of {turn_id(session, turn)} does not follow from its dialogue"
            )

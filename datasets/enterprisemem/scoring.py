"""How one turn is scored: by its own result, the gold result, and the results that contamination would give."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...adapters.base import Answer
from ...engine.sql.comparison import compare
from ...engine.sql.outcome import Outcome
from ...engine.unit import Context
from .extraction import extract_sql
from .memory.episode import Episode, StateValue
from .memory.summary import NO_SQL, summarise
from .sessions import Session, Turn
from .taxonomy import Category, after_execution, before_execution

HEADLINE: Final = "strict"
"""The comparison that decides EX: rows sorted, values as they print (section 3.3)."""

_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one answer came to. See `TurnRecord` for the meaning of each part."""

    category: Category
    detail: str = ""
    agree: Mapping[str, bool]
    fallback: str = ""
    echoed: int | None = None
    sql: str
    result: str


Shown: TypeAlias = "Sequence[tuple[Episode, Session]]"
"""The episodes in a prompt, each with the session that it belongs to."""


async def score(ctx: Context, session: Session, turn: Turn, answer: Answer, shown: Shown) -> Score:
    """Execute and judge `answer`. Gold and fallback are run once for all who ask for them."""
    sql = extract_sql(answer.text)
    refused = before_execution(answer, sql)
    gold = await ctx.reference(session.database, turn.ground_truth_sql)
    if refused:
        fallback = await _fallback(ctx, session, turn, gold, None)
        return Score(category=refused, detail=answer.detail, agree={}, fallback=fallback, sql=sql, result=NO_SQL)
    outcome = await ctx.execute(session.database, sql)
    agree = compare(gold, outcome)
    category = after_execution(outcome, agree[HEADLINE])
    return Score(
        category=category,
        detail="" if outcome.status == "ok" else outcome.status,
        agree=agree,
        fallback=await _fallback(ctx, session, turn, gold, outcome),
        echoed=await _echoed(ctx, session, turn, outcome, shown) if category == "wrong_result" else None,
        sql=sql,
        result=summarise(outcome),
    )


async def _fallback(ctx: Context, session: Session, turn: Turn, gold: Outcome, outcome: Outcome | None) -> str:
    """Tell whether the prediction is the neighbouring profile's answer (section 4.7); None is no prediction at all."""
    if turn.fallback_sql is None:
        return ""
    fallback = await ctx.reference(session.database, turn.fallback_sql)
    if compare(gold, fallback)[HEADLINE]:
        return "same"
    return "matched" if outcome and compare(fallback, outcome)[HEADLINE] else "other"


async def _echoed(ctx: Context, session: Session, turn: Turn, outcome: Outcome, shown: Shown) -> int | None:
    """Return the plan position of a shown episode of another session whose values give the predicted result.

    The stronger test of contamination: what was really retrieved (the values that the other session had bound by that
    turn, which its SQL shows), put into the turn's own template.
    """
    if turn.sql_template is None:
        return None
    own = known_before(session, turn.turn_number)
    for episode, other in shown:
        if other.session_id == session.session_id:
            continue
        foreign = filled(turn.sql_template, {**own, **known_before(other, episode.turn + 1)})
        if foreign is None or foreign == filled(turn.sql_template, own):
            continue
        if compare(await ctx.reference(session.database, foreign), outcome)[HEADLINE]:
            return episode.position
    return None


def known_before(session: Session, turn: int) -> dict[str, StateValue]:
    """Return the state that the turns before number `turn` have bound."""
    known: dict[str, StateValue] = {}
    for earlier in session.turns[: turn - 1]:
        known.update(earlier.state_updates)
    return known


def filled(template: str, values: Mapping[str, StateValue]) -> str | None:
    """Return `template` with its `{key}` places filled, or None when a value is missing."""
    if not all(key in values for key in _PLACE.findall(template)):
        return None
    return _PLACE.sub(lambda place: str(values[place[1]]).replace("'", "''"), template)

"""A turn as memory keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from ....engine.sql.outcome import Outcome
from .summary import NO_SQL, summarise
from .text import bounded

StateValue: TypeAlias = str | int

SQL_LIMIT = 4_000
"""Characters of generated SQL that memory keeps: ten times the longest gold query. Longer ones are cut, with a mark."""


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """One finished turn (paper §5.5: question, generated SQL, result summary, state updates).

    `turn` counts from 1 within the session; `position` from 0 over all planned turns of the condition-run, and decides
    what later turns may see. `sql` is what the model wrote, `result` what it came to (`summarise`).
    """

    session: str
    turn: int
    position: int
    question: str
    sql: str
    result: str
    state: dict[str, StateValue] = {}

    @classmethod
    def of(
        cls,
        session: str,
        turn: int,
        position: int,
        question: str,
        *,
        sql: str,
        outcome: Outcome | None,
        state: Mapping[str, StateValue],
    ) -> Episode:
        """Return what memory keeps of a turn, whatever it came to; `outcome` is None when no SQL was there to run.

        `state` is what the session file says the turn introduced; pass an empty one to withhold it (`--state none`).
        """
        result = NO_SQL if outcome is None else summarise(outcome)
        return cls(
            session=session,
            turn=turn,
            position=position,
            question=question,
            sql=bounded(sql, SQL_LIMIT),
            result=result,
            state=dict(state),
        )

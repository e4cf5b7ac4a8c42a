"""A turn as memory keeps it."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

StateValue: TypeAlias = str | int


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

"""What a turn leaves in the journal for the reports, and what a run plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from ...adapters.base import Json
from .taxonomy import Category


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One scored turn.

    `cluster` is equal for sessions of equal content. `agree` holds every named comparison with the gold result, the
    headline (`strict`) among them, and is empty for what was not executed. `detail` is the finer label of a failed
    statement. `fallback` says how the turn stands to the neighbouring profile's answer: `same` when gold and fallback
    cannot be told apart, `matched` when the prediction equals the fallback and not the gold, else `other`; empty
    where the turn has none. `shown` are the plan positions of the episodes in the prompt, `echoed` the one whose
    values, put into the turn's template, give the predicted result. `sql` and `result` are what memory keeps of the
    turn.
    """

    model: str
    condition: str
    session: str
    cluster: str
    source: str
    tier: int
    turn: int
    repeat: int = 0
    critical: bool = False
    category: Category
    detail: str = ""
    agree: dict[str, bool] = {}
    fallback: str = ""
    resolved: int = 0
    wanted: int = 0
    shown: tuple[int, ...] = ()
    echoed: int | None = None
    sql: str = ""
    result: str = ""

    @property
    def correct(self) -> bool:
        """Whether the turn counts as right: strict execution accuracy (section 3.3)."""
        return self.category == "correct"

    def fields(self) -> dict[str, Json]:
        """Return the record as a journal line holds it."""
        return cast("dict[str, Json]", msgspec.to_builtins(self))


def read_record(fields: Mapping[str, Any]) -> TurnRecord:
    """Return the record that a journal line holds."""
    return msgspec.convert(fields, TurnRecord)


class PlannedTurns(msgspec.Struct, frozen=True):
    """How many turns of one kind each cell of the sweep plans."""

    source: str
    tier: int
    turn: int
    count: int
    critical: int


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of the benchmark plans, as its manifest says it: the denominators of `scored / planned`."""

    models: tuple[str, ...]
    conditions: tuple[str, ...]
    repeats: int
    turns: tuple[PlannedTurns, ...]
    synthetic: bool

"""One anchor's way to the outside: the engine's context, with the number of each step for the provenance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ....adapters.base import Answer, Json, Message
from ....engine.sql.comparison import compare
from ....engine.sql.outcome import Outcome
from ....engine.unit import Context
from ...gold import Result
from ..actions import Malformed
from ..scoring import HEADLINE
from . import answers
from .prompts import once_more

T = TypeVar("T", bound=msgspec.Struct)


class Steps:
    """Asks and executes one after another. `last` is the sequence number of the latest step in the journal.

    `schemas` says whether the JSON Schema of an answer is sent with the question.
    """

    def __init__(self, ctx: Context, *, schemas: bool) -> None:
        self._ctx = ctx
        self._schemas = schemas
        self.last = -1

    async def ask(self, model: str, prompt: Sequence[Message], schema: dict[str, Json]) -> Answer:
        """Ask a model for one JSON object."""
        self.last += 1
        options: dict[str, Json] = {"json_schema": schema} if self._schemas else {}
        return await self._ctx.ask(model, prompt, **options)

    async def ask_twice(self, model: str, prompt: Sequence[Message], shape: type[T], schema: dict[str, Json]) -> T:
        """Ask for an answer of `shape`; one that is malformed is met once with a note on the format.

        Raises Malformed after two.
        """
        answer = await self.ask(model, prompt, schema)
        try:
            return answers.read(answer, shape)
        except Malformed:
            again = await self.ask(model, once_more(prompt, answer.text), schema)
        return answers.read(again, shape)

    async def run(self, database: str, sql: str) -> Result:
        """Run a candidate's SQL under the guards."""
        self.last += 1
        return _result(await self._ctx.execute(database, sql), sql)

    async def gold(self, database: str, sql: str) -> Result:
        """Run the anchor's SQL, once for all."""
        return _result(await self._ctx.reference(database, sql), sql)

    async def matches(self, database: str, sql: str, gold: str) -> bool:
        """Tell whether a model's SQL has the gold's result, as EX compares (§4.3)."""
        self.last += 1
        outcome = await self._ctx.execute(database, sql)
        return compare(await self._ctx.reference(database, gold), outcome)[HEADLINE]


def _result(outcome: Outcome, sql: str) -> Result:
    if outcome.status != "ok":
        return Result(error=outcome.message or outcome.status)
    # A rehearsal has no digests: there, two results differ as the queries do.
    return Result(rows=outcome.rows, multiset=outcome.digests.get(HEADLINE) or sql, blank=not outcome.rows)

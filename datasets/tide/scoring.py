"""What one query of an agent comes to: its result against gold, its commitments against the query before it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias

from ...engine.sql.comparison import compare
from ...engine.unit import Context
from .drift import compare as compare_commitments
from .parsing import UnparsableSql
from .record import Queried, Step
from .units import Commitment

Committed: TypeAlias = "Callable[[str], frozenset[Commitment]]"
"""Extracts the commitments of a query on one database; raises UnparsableSql."""

HEADLINE: Final = "multiset"
"""The comparison that decides EX: equal results modulo row order, 1 = 1.0, no tolerance (§4.3, decision 33)."""


async def judge(
    ctx: Context, database: str, committed: Committed, sql: str, gold: str, before: str | None, *, turn: int, stage: int
) -> Queried:
    """Execute `sql` under the guards and compare it with `gold`; `before` is the agent's query for the stage before."""
    outcome = await ctx.execute(database, sql)
    # sqlglot on what a model wrote may take long: in a thread, so that nothing else waits for it.
    step = None if before is None else await asyncio.to_thread(step_between, before, sql, committed)
    return Queried(
        turn=turn,
        stage=stage,
        sql=sql,
        status=outcome.status,
        message=outcome.message,
        agree=compare(await ctx.reference(database, gold), outcome),
        step=step,
    )


def step_between(before: str, after: str, committed: Committed) -> Step:
    """Return Algorithm 1's verdict on two queries of an agent, or `unparsable` when either cannot be read."""
    try:
        return compare_commitments(committed(before), committed(after)).verdict
    except UnparsableSql:
        return "unparsable"

"""Before anything is sent: every gold statement must run, or the scores would blame the models for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from ..adapters.base import ConfigurationError
from .context import Executor
from .progress import Progress
from .unit import Reference

AT_ONCE: Final = 64
SHOWN: Final = 5


async def check_gold(references: Sequence[Reference], executor: Executor, progress: Progress) -> None:
    """Run every reference, or find its outcome in the cache; raises ConfigurationError that names those that fail."""
    progress.gold_planned = len(references)
    slots = asyncio.Semaphore(AT_ONCE)

    async def check(reference: Reference) -> str:
        async with slots:
            outcome = await executor.reference(reference.database, reference.sql)
        progress.gold_checked += 1
        return "" if outcome.status == "ok" else f"{reference.name}: {outcome.status}: {outcome.message}"

    failed = [failure for failure in await asyncio.gather(*map(check, references)) if failure]
    if failed:
        shown = "".join(f"\n  {failure}" for failure in failed[:SHOWN])
        more = f"\n  and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
        raise ConfigurationError(
            f"{len(failed)} of {len(references)} gold statements do not run, so nothing was sent:{shown}{more}\n"
            "Check that questions and databases belong together (turntide data check)."
        )

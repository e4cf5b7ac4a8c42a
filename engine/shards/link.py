"""One shard's link to the others: it visits what they hold in common, with the needs of all of its accounts at once."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from typing import Final

from ...adapters.base import Json
from ..calls.limits.account import Limits
from ..calls.limits.clock import Clock
from ..calls.turnstile import Purse, Turnstile
from ..closing import INTERRUPTED, Closing
from ..errors import Unfinished
from ..journal import Line
from ..unit import Experiment
from .commons import NANOS, Commons, Reply, Visit, at_most, failure
from .cut import Cut, Part
from .turnstile import SharedTurnstile

GATHER: Final = 0.005
"""Seconds between two visits of a busy shard: what comes meanwhile goes together. A visit costs a shard 0.13 ms of CPU
time, and Redis 0.2 ms with four shards. From about twenty busy ones on visits queue there, and each carries more."""

HEARTBEAT: Final = 1.0
"""Seconds between two visits of a shard that needs nothing: it is alive, and hears when the run is to end."""

PATIENCE: Final = 60.0
"""Seconds without Redis after which a shard ends, resumable. Nothing is sent meanwhile; what is out still lands."""


class ShardLink:
    """A shard's share of a run (`engine.calls.share`): one visit at a time, so that no two contradict each other."""

    def __init__(self, commons: Commons, cut: Cut, cap: int | None) -> None:
        self._commons = commons
        self._cut = cut
        self._cap = cap
        self._life = secrets.token_hex(8)
        self._visits = 0
        self._known = False
        self._over = False
        self._turnstiles: list[SharedTurnstile] = []
        self._woken = asyncio.Event()

    def identity(self) -> dict[str, Json]:
        """Return which shard it is; of how many says the run's specification."""
        return {"shard": self._cut.index}

    def part(self, experiment: Experiment) -> Experiment:
        """Return the lanes of this shard."""
        return Part(experiment, self._cut)

    def turnstile(
        self, account: str, limits: Limits, purse: Purse, clock: Clock, changed: Callable[[Line], None]
    ) -> Turnstile:
        """Return a queue whose grants come from the visits."""
        turnstile = SharedTurnstile(account, limits, purse, clock, changed, self._woken.set)
        self._turnstiles.append(turnstile)
        return turnstile

    @asynccontextmanager
    async def working(self, purse: Purse, closing: Closing) -> AsyncGenerator[None]:
        """Visit for the length of a context; the last visit leaves what the shard has spent for good."""
        visiting = asyncio.create_task(self._visit_on_and_on(purse, closing))
        try:
            yield
        finally:
            # A cancellation that meets a reply may get lost in the client: then the flag ends the visits.
            self._over = True
            visiting.cancel()
            await asyncio.gather(visiting, return_exceptions=True)
            with suppress(Exception):  # the journal says it as well
                await self._visit(purse)

    async def _visit_on_and_on(self, purse: Purse, closing: Closing) -> None:
        seen = self._now()
        while not self._over:
            self._woken.clear()
            try:
                pause = self._take(await self._visit(purse), closing)
                seen = self._now()
            except Exception as error:  # whatever redis-py raises: Redis is gone, restarted, full or hung
                pause = HEARTBEAT
                if self._now() - seen > PATIENCE:
                    closing.begin(Unfinished("infrastructure", f"{failure(error)}, for {PATIENCE:.0f} s now"))
            await asyncio.sleep(GATHER)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, pause - GATHER)):
                    await self._woken.wait()

    async def _visit(self, purse: Purse) -> Reply:
        self._visits += 1
        wishes = [turnstile.wish() for turnstile in self._turnstiles]
        try:
            reply = await self._commons.visit(
                Visit(
                    shards=self._cut.shards,
                    cap=self._cap,
                    shard=str(self._cut.index),
                    life=self._life,
                    number=self._visits,
                    claims=not self._known,
                    spent=at_most(purse.budget.known + purse.budget.exposed),
                    held=at_most(purse.budget.reserved),
                    accounts=wishes,
                )
            )
        except BaseException:
            for turnstile, wish in zip(self._turnstiles, wishes, strict=True):
                turnstile.unheard(wish)
            raise
        self._known = True
        return reply

    def _take(self, reply: Reply, closing: Closing) -> float:
        """Let go what was granted; return the seconds after which to visit again at the latest."""
        if reply.fenced:
            closing.begin(Unfinished("infrastructure", "another process works on this shard now"))
            return HEARTBEAT
        if reply.ends:
            closing.begin(Unfinished("draining", INTERRUPTED))
        committed = Decimal(reply.committed) / NANOS
        accounts = zip(self._turnstiles, reply.accounts, strict=True)
        pauses = [turnstile.take(granted, committed) for turnstile, granted in accounts]
        return min((pause for pause in pauses if pause is not None), default=HEARTBEAT)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

"""One shard's link to the others, in real time over a real Redis."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import AsyncExitStack
from decimal import Decimal

import pytest
from turntide.engine.calls.budget import Budget
from turntide.engine.calls.limits.account import Limits
from turntide.engine.calls.limits.clock import loop_time
from turntide.engine.calls.limits.requests import SLICE
from turntide.engine.calls.turnstile import Purse, Turnstile
from turntide.engine.closing import Closing
from turntide.engine.errors import Unfinished
from turntide.engine.shards.commons import Commons, Visit, connected
from turntide.engine.shards.cut import Cut
from turntide.engine.shards.link import ShardLink

pytestmark = pytest.mark.real("redis")

SHARDS = 4


class Linked:
    """Some shards at work on one account, each with a queue of its own."""

    def __init__(self, url: str, limits: Limits, shards: int = SHARDS) -> None:
        self._url, self._limits, self._shards = url, limits, shards
        self._run = secrets.token_hex(8)
        self._stack = AsyncExitStack()
        self.turnstiles: list[Turnstile] = []
        self.closings: list[Closing] = []

    async def __aenter__(self) -> Linked:
        for index in range(self._shards):
            link = ShardLink(await self.commons(), Cut(index, self._shards), None)
            purse, closing = Purse(Budget()), Closing()
            self.turnstiles.append(link.turnstile("account", self._limits, purse, loop_time, lambda change: None))
            self.closings.append(closing)
            await self._stack.enter_async_context(link.working(purse, closing))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def commons(self) -> Commons:
        commons = Commons(await connected(self._url), self._run)
        self._stack.push_async_callback(commons.aclose)
        return commons


async def test_four_links_together_reach_95_percent_of_one_limit_and_do_not_pass_it(redis_url: str) -> None:
    per_minute, sent = 3_000, list[float]()

    async def call(turnstile: Turnstile) -> None:
        while not sent or sent[-1] - sent[0] < 3:
            await turnstile.enter("m", 1, Decimal(0))
            sent.append(loop_time())
            await asyncio.sleep(0.05)
            turnstile.leave(1, 1, Decimal(0), Decimal(0))

    async with Linked(redis_url, Limits(requests_per_minute=per_minute)) as linked:
        await asyncio.gather(*(call(each) for each in linked.turnstiles for _ in range(8)))
    due = per_minute / 60 * (sent[-1] - sent[0])
    assert 0.95 * due <= len(sent) <= due + per_minute / 60 * SLICE


async def test_a_call_that_gave_up_while_its_grant_was_under_way_leaves_its_place_to_others(redis_url: str) -> None:
    async with Linked(redis_url, Limits(in_flight=1), 2) as linked:
        one, other = linked.turnstiles
        waiters = [asyncio.create_task(one.enter("m", 1, Decimal(0))) for _ in range(20)]
        await asyncio.sleep(0.005)
        for waiter in waiters:
            waiter.cancel()
        for came in await asyncio.gather(*waiters, return_exceptions=True):
            if came is None:
                one.leave(1, 1, Decimal(0), Decimal(0))
        async with asyncio.timeout(2):
            await other.enter("m", 1, Decimal(0))


async def test_the_end_reaches_every_link_and_turns_away_whoever_waits(redis_url: str) -> None:
    async with Linked(redis_url, Limits(in_flight=1), 2) as linked:
        for turnstile, closing in zip(linked.turnstiles, linked.closings, strict=True):
            closing.listeners.append(turnstile.close)
        await linked.turnstiles[0].enter("m", 1, Decimal(0))
        waiter = asyncio.create_task(linked.turnstiles[1].enter("m", 1, Decimal(0)))
        await (await linked.commons()).visit(Visit(shards=2, ends="yes"))
        with pytest.raises(Unfinished, match="interrupted"):
            async with asyncio.timeout(5):
                await waiter

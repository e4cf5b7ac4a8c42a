"""Talks to one model's batch API until it has an answer: every request has a deadline, every wait ends with the run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from itertools import count
from typing import Final, TypeVar

from ....adapters.base import Fatal, Fault, WireReply, WireRequest
from ....adapters.batches.base import Batch, BatchFormat, BatchItem, BatchRefused, ItemReply, Sought
from ...errors import Unfinished
from ..exchange import carried
from ..retries import Retries, Sleep
from ..route import Route

T = TypeVar("T")

PATIENCE: Final = 60
"""Failures in a row before a batch that is under way is left for a later part of the run: about an hour."""


class Courier:
    """Submits, finds, watches and fetches the batches of one model.

    Raises BatchRefused, and Unfinished when the run ends first.
    """

    def __init__(self, route: Route, api: BatchFormat, timeout: float, retries: Retries, sleep: Sleep) -> None:
        self.api = api
        self._route = route
        self._timeout = timeout
        self._retries = retries
        self._sleep = sleep
        self._one_at_a_time = asyncio.Lock()

    async def submit(self, sought: Sought, items: Sequence[BatchItem]) -> Batch:
        """Make a batch, once: after a failure that may have made it, it is looked for before it is sent again."""
        for attempt in count(1):
            try:
                async with self._one_at_a_time:  # the bytes of one batch in memory, not of all
                    return await self.api.submit(self._fetch, sought.token, items)
            except BatchRefused as refused:
                failed = refused
            if isinstance(failed.reply, Fatal):
                raise failed
            await self._back_off(attempt, failed.reply)
            if _may_have_arrived(failed.reply) and (found := await self._found(sought, items)):
                return found
            if attempt > self._retries.faults:
                raise failed
        raise AssertionError("count() ends never")

    async def _found(self, sought: Sought, items: Sequence[BatchItem]) -> Batch | None:
        """Find, or end as Unfinished: a batch of which nobody knows whether it was made stays open."""
        try:
            return await self.find(sought, {item.id for item in items})
        except BatchRefused as refused:
            why = refused.reply.message
        raise Unfinished("provider", f"{self._route.label}: whether a batch was made is not known yet: {why}")

    async def find(self, sought: Sought, ids: set[str]) -> Batch | None:
        """Return the batch that was sought, or None when it was never made."""
        for found in await self._patiently(lambda: self.api.find(self._fetch, sought)):
            if found.token is not None:
                return found
            # Nothing but its results can tell whose it is.
            if await self._holds(ended := await self.ended(found.id), ids):
                return ended
        return None

    async def ended(self, batch_id: str) -> Batch:
        """Return a batch when it has ended; it is looked at less and less often, at least once a minute."""
        pause = self._retries.first
        while not (batch := await self._patiently(lambda: self.api.look(self._fetch, batch_id))).ended:
            await self._sleep(pause)
            pause = min(self._retries.longest, pause * 1.5)
        return batch

    async def replies(self, batch: Batch) -> AsyncGenerator[tuple[str, ItemReply]]:
        """Yield the replies of an ended batch; after a broken download they begin anew."""
        for attempt in count(1):
            try:
                async for reply in self.api.replies(self._fetch, batch):
                    yield reply
                return
            except BatchRefused as refused:
                if isinstance(refused.reply, Fatal) or attempt > PATIENCE:
                    raise
                await self._back_off(attempt, refused.reply)

    async def _holds(self, batch: Batch, ids: set[str]) -> bool:
        try:
            async with aclosing(self.replies(batch)) as replies:
                async for item, _ in replies:
                    return item in ids
        except BatchRefused as refused:
            if not isinstance(refused.reply, Fatal):
                raise
        return False

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        for attempt in count(1):
            try:
                return await work()
            except BatchRefused as refused:
                if isinstance(refused.reply, Fatal) or attempt > PATIENCE:
                    raise
                await self._back_off(attempt, refused.reply)
        raise AssertionError("count() ends never")

    async def _back_off(self, attempt: int, fault: Fault) -> None:
        backoff = min(self._retries.longest, self._retries.first * 2.0 ** min(attempt - 1, 30))
        await self._sleep(max(fault.retry_after or 0.0, backoff))

    async def _fetch(self, request: WireRequest) -> WireReply:
        route = self._route
        came = await carried(route.transport, route.provider, route.account, request, self._timeout)
        if isinstance(came, Fault):
            raise BatchRefused(came)
        return came


def _may_have_arrived(fault: Fault) -> bool:
    """Whether a failed submission may have made its batch all the same: any but one that never left, or a 429."""
    return fault.paid or fault.status not in (None, 429)

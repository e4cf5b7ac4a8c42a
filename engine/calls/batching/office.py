"""The life of batches: made on disk, submitted, watched, taken in, and taken up again after any crash."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine, Mapping
from decimal import Decimal
from typing import Any, Final, Self

from ....adapters.base import Answer, Fatal, Fault, Question, Reply
from ....adapters.batches.base import Batch, BatchItem, BatchRefused, ItemReply, Sought, never_ran
from ...closing import Closing
from ...errors import Diverged, Unfinished
from ...journal import Journal, Key
from ...progress import Progress
from ...system.moments import unix_now
from ..calls import Call, idempotency_key
from ..exchange import understood
from ..ledger import answer_line, fail_line, sent_line
from ..retries import Retries
from ..route import Route, cost_of, worst_case
from ..turnstile import Purse
from .courier import Courier
from .gate import Gate, Lane, Parcel
from .lines import BatchedCall, OpenBatch, OpenBatches, ended_line, id_line, lost, made_line, named

STRIDE: Final = 100
"""Lines that are written, or dialogues that are woken, in one tick of the loop."""

_WHOLE: Final = frozenset({"completed", "ended"})
"""What providers call the end of a batch that came to all of its items."""

Landed = list[tuple[BatchedCall, Reply]]


class Batching:
    """All batches of a run. `on` says whether new calls travel in batches; open ones are taken in either way."""

    def __init__(
        self,
        journal: Journal,
        purse: Purse,
        *,
        run: str,
        on: bool,
        retries: Retries,
        timeout: float,
        progress: Progress,
        closing: Closing,
    ) -> None:
        self._journal = journal
        self._purse = purse
        self._run = run
        self._on = on
        self._retries = retries
        self._timeout = timeout
        self._progress = progress
        self._closing = closing
        self._gate = Gate(progress, purse, self._send, lambda: self._landing > 0)
        self._open: dict[Key, tuple[OpenBatch, BatchedCall]] = {}
        self._ids: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._landing = 0
        closing.listeners.append(self._close)

    def start(self, routes: Mapping[str, Route], left: OpenBatches) -> None:
        """Open the way for the models that have a batch API, and go on with what earlier parts `left` open."""
        for label, route in routes.items():
            if route.batch is not None:
                courier = Courier(route, route.batch.api, self._timeout, self._retries, self._closing.sleep)
                self._gate.lanes[label] = Lane(route, courier)
        self._ids |= left.ids
        for batch in left.by_token.values():
            for call in batch.calls.values():
                self._purse.budget.reopen(call.usd)
            self._begin(batch, self._go_on(self._gate.lanes[batch.model], batch))

    def carries(self, call: Call) -> bool:
        """Whether `call` travels in a batch, or is in one already."""
        return call.key in self._open or (self._on and call.route.label in self._gate.lanes)

    async def reply(self, call: Call) -> Reply:
        """Return what a call's batch brought for it; an answer is on disk already.

        Raises Unfinished when that is not to be had now, and Diverged when an open batch holds another question there.
        """
        with self._gate.asking(call.key.unit):
            if held := self._open.get(call.key):
                batch, batched = held
                if batched.digest != call.digest:
                    raise Diverged(*call.key, "the question is not the one that an open batch holds here")
                if batch.given_up is not None:
                    batched.reject(batch.given_up)
            else:
                batched = self._batched(call)
                self._gate.enter(call.route.label, batched, call.wire)
            call.sends = batched.attempt
            return await batched.wait()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        """Leave open what is open. When the run is ending, a submission under way gets its id on disk first."""
        self._gate.stop()
        if error is not None or not self._closing.reason:
            for task in self._tasks:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _batched(self, call: Call) -> BatchedCall:
        assert call.route.batch is not None
        bound = worst_case(call.route.batch.price, len(call.wire.body), call.question.options)
        name = idempotency_key(self._run, call.key, call.digest)
        return BatchedCall(name, call.key, call.sends + 1, call.digest, bound)

    def _send(self, lane: Lane, parcels: list[Parcel]) -> None:
        """Begin a new batch of calls that have their money."""
        calls = {parcel.call.key: parcel.call for parcel in parcels}
        batch = OpenBatch(secrets.token_hex(8), lane.route.label, unix_now(), len(parcels), calls=calls)
        items = [BatchItem(parcel.call.id, parcel.request) for parcel in parcels]
        self._begin(batch, self._submit(lane, batch, items))

    def _begin(self, batch: OpenBatch, work: Coroutine[Any, Any, None]) -> None:
        for call in batch.calls.values():
            self._open[call.key] = batch, call
        self._progress.of(batch.model).batched += len(batch.calls)
        task = asyncio.create_task(self._guarded(batch, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, batch: OpenBatch, work: Coroutine[Any, Any, None]) -> None:
        """Do `work`. What ends it before its time leaves the batch open, and whoever waits for it hears why."""
        try:
            await work
            return
        except BatchRefused as refused:
            batch.given_up = self._unavailable(batch, refused.reply)
        except (Unfinished, Exception) as error:
            batch.given_up = error
        for call in batch.calls.values():
            call.reject(batch.given_up)

    def _unavailable(self, batch: OpenBatch, reply: Fault | Fatal) -> Unfinished:
        if isinstance(reply, Fatal):
            return self._gate.lanes[batch.model].route.stop(reply.message)
        return Unfinished("provider", f"{batch.model}: the batch API gives no answer: {reply.message}")

    async def _submit(self, lane: Lane, batch: OpenBatch, items: list[BatchItem]) -> None:
        self._journal.append(made_line(batch))
        for place, call in enumerate(batch.calls.values(), 1):
            line = sent_line(call.key, call.attempt, call.digest, call.usd, batch.model)
            self._journal.append(named(line, batch))
            await _breath(place)
        self._progress.of(batch.model).sends += batch.size
        await self._journal.durable()
        try:
            made = await lane.courier.submit(self._sought(batch), items)
        except BatchRefused as refused:
            landed: Landed = [(call, refused.reply) for call in batch.calls.values()]
            # The courier has tried again as often as it may: one layer of that is enough.
            instead = None if isinstance(refused.reply, Fatal) else self._unavailable(batch, refused.reply)
            await self._end(lane, batch, "refused", landed, instead)
            return
        finally:
            items.clear()
        await self._made(lane, batch, made)

    async def _go_on(self, lane: Lane, batch: OpenBatch) -> None:
        """Go on with a batch of an earlier part: by its id, or else by looking for it."""
        if batch.id:
            await self._collect(lane, batch)
            return
        ids = {call.id for call in batch.calls.values()}
        if made := await lane.courier.find(self._sought(batch), ids):
            await self._made(lane, batch, made)
            return
        never = lost("the process ended before the batch was made", paid=False)
        await self._end(lane, batch, "never made", [(call, never) for call in batch.calls.values()])

    def _sought(self, batch: OpenBatch) -> Sought:
        return Sought(batch.token, batch.size, batch.since, frozenset(self._ids))

    async def _made(self, lane: Lane, batch: OpenBatch, made: Batch) -> None:
        batch.id = made.id
        self._ids.add(made.id)
        await self._journal.commit(id_line(batch))
        await self._collect(lane, batch)

    async def _collect(self, lane: Lane, batch: OpenBatch) -> None:
        """Wait until a batch has ended and take in what it brought, partial or whole."""
        try:
            ended = await lane.courier.ended(batch.id)
            landed = [] if ended.trouble else await self._fetch(lane, batch, ended)
        except BatchRefused as refused:
            if not isinstance(refused.reply, Fatal) or refused.reply.kind != "not_found":
                raise
            gone = lost(f"the provider no longer has the batch: {refused.reply.message}", paid=True)
            await self._end(lane, batch, "gone", [(call, gone) for call in batch.calls.values()])
            return
        came = {call.key for call, _ in landed}
        landed += [(call, _missing(ended)) for call in batch.calls.values() if call.key not in came]
        await self._end(lane, batch, ended.how, landed)

    async def _fetch(self, lane: Lane, batch: OpenBatch, ended: Batch) -> Landed:
        by_id = {call.id: call for call in batch.calls.values()}
        landed: Landed = []
        async for name, item in lane.courier.replies(ended):
            if call := by_id.pop(name, None):
                landed.append((call, _read(lane.route, item)))
                await _breath(len(landed))
        return landed

    async def _end(
        self, lane: Lane, batch: OpenBatch, how: str, landed: Landed, instead: Unfinished | None = None
    ) -> None:
        """Journal and settle what came, then wake the dialogues that wait for it; `instead` is what they hear then."""
        self._landing += 1
        try:
            took = max(0.0, unix_now() - batch.since)
            for place, (call, reply) in enumerate(landed, 1):
                self._settle(lane.route, batch, call, reply, took)
                await _breath(place)
            self._journal.append(ended_line(batch, how, sum(isinstance(reply, Answer) for _, reply in landed)))
            await self._journal.durable()
            for place, (call, reply) in enumerate(landed, 1):
                del self._open[call.key]
                call.reject(instead) if instead else call.resolve(reply)
                await _breath(place)
        finally:
            self._landing -= 1

    def _settle(self, route: Route, batch: OpenBatch, call: BatchedCall, reply: Reply, took: float) -> None:
        """Put what came into the journal's buffer and close the reservation. Never awaits."""
        assert route.batch is not None
        self._progress.of(batch.model).batched -= 1
        if isinstance(reply, Answer):
            cost = cost_of(route.batch.price, reply.usage)
            line = answer_line(call.key, call.attempt, call.digest, reply, cost, call.queued, took, unix_now())
            route.answers += 1
            self._progress.answered(batch.model, 0.0)
        else:
            cost = None if isinstance(reply, Fault) and reply.paid else Decimal(0)
            line = fail_line(call.key, call.attempt, reply)
            self._progress.failed(batch.model, reply)
        self._journal.append(named(line, batch))
        self._purse.settle(call.usd, cost)

    def _close(self, reason: Unfinished) -> None:
        """Turn away whoever waits; what is in a batch stays there, and a later part of the run takes it in."""
        self._gate.close(reason)
        for _, call in self._open.values():
            call.reject(reason)


def _read(route: Route, item: ItemReply) -> Reply:
    """Return what an item's reply means."""
    if isinstance(item, Fault):
        return item
    return understood(route.provider, route.account, item, Question(model=route.name, messages=()))


def _missing(ended: Batch) -> Fault | Fatal:
    """Return what became of the calls of which a batch's results say nothing."""
    if ended.trouble:
        return ended.trouble
    if ended.how in _WHOLE:
        return lost("the results of the batch do not name this request", paid=True)
    return never_ran(f"the batch ended as {ended.how}")


async def _breath(place: int) -> None:
    """Let the loop go on after every stride of a long row."""
    if place % STRIDE == 0:
        await asyncio.sleep(0)

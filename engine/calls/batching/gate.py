"""The gate in front of the batch APIs: it collects the calls of all live dialogues and lets them go in lock-step.

A call waits here until every dialogue that runs waits too; then all that have come go together. So dialogues of ten
turns take ten batches, however many dialogues there are.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from ....adapters.base import WireRequest
from ...errors import Unfinished
from ...progress import Progress
from ..route import Route
from ..turnstile import Purse
from .courier import Courier
from .lines import BatchedCall

MOST_CALLS: Final = 10_000
MOST_BYTES: Final = 25_000_000
"""What one batch holds at most. The providers take more; but a batch stands in memory while it is sent."""

QUIET: Final = 0.1
"""Seconds in which no call comes, while all dialogues wait, before a batch leaves."""
PATIENCE: Final = 300.0
"""Seconds after which a batch leaves although some dialogue is still at work."""
ENVELOPE: Final = 200
"""Bytes that an item has around its body, at most."""


@dataclass(slots=True, eq=False)
class Parcel:
    """A call that waits to be sent, with the bytes that ask it."""

    call: BatchedCall
    request: WireRequest
    since: float


@dataclass(slots=True, eq=False)
class Lane:
    """The calls of one model that wait for a batch, and who takes them."""

    route: Route
    courier: Courier
    waiting: deque[Parcel] = field(default_factory=deque[Parcel])


class Gate:
    """Holds calls until a batch is worth sending; `send` is called with what one batch can hold, money reserved.

    `landing` says whether results are being taken in, whose dialogues are about to go on.
    """

    def __init__(
        self,
        progress: Progress,
        purse: Purse,
        send: Callable[[Lane, list[Parcel]], None],
        landing: Callable[[], bool],
    ) -> None:
        self.lanes: dict[str, Lane] = {}
        self._progress = progress
        self._purse = purse
        self._send = send
        self._landing = landing
        self._asking: Counter[str] = Counter()
        self._arrived = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def asking(self, unit: str) -> Generator[None]:
        """Count a dialogue among those that wait."""
        self._asking[unit] += 1
        try:
            yield
        finally:
            self._asking[unit] -= 1
            if not self._asking[unit]:
                del self._asking[unit]

    def enter(self, label: str, call: BatchedCall, request: WireRequest) -> None:
        """Let a call wait for its batch."""
        self._arrived = asyncio.get_running_loop().time()
        self.lanes[label].waiting.append(Parcel(call, request, self._arrived))
        self._watch()

    def close(self, reason: Unfinished) -> None:
        """Turn away whoever waits here."""
        for lane in self.lanes.values():
            self._turn_away(lane, reason)

    def stop(self) -> None:
        """Look no more."""
        if self._timer:
            self._timer.cancel()

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(QUIET, self._look)

    def _look(self) -> None:
        """Let go what may: all of it when every dialogue waits, and what is full or has waited long."""
        self._timer = None
        now = asyncio.get_running_loop().time()
        running = sum(counts.running for counts in self._progress.models.values())
        quiet = now - self._arrived >= QUIET * 0.9 and running <= len(self._asking) and not self._landing()
        for lane in self.lanes.values():
            waiting = lane.waiting
            while waiting and waiting[0].call.gone:
                waiting.popleft()
            if waiting and (quiet or len(waiting) >= MOST_CALLS or now - waiting[0].since > PATIENCE):
                self._let_go(lane, now)
        if any(lane.waiting for lane in self.lanes.values()):
            self._watch()

    def _let_go(self, lane: Lane, now: float) -> None:
        """Reserve money in the order of the calls, as far as it reaches, and send those that have it."""
        if lane.route.stopped:
            self._turn_away(lane, lane.route.stopped)
            return
        budget, chosen = self._purse.budget, list[Parcel]()
        while lane.waiting and budget.fits(lane.waiting[0].call.usd):
            parcel = lane.waiting.popleft()
            if not parcel.call.gone:
                budget.reserve(parcel.call.usd)
                parcel.call.queued = now - parcel.since
                chosen.append(parcel)
        for parcels in packed(chosen, lane.courier):
            self._send(lane, parcels)
        if not chosen and lane.waiting and budget.reserved == 0:
            self._turn_away(lane, self._purse.exhausted(lane.waiting[0].call.usd))

    def _turn_away(self, lane: Lane, reason: Unfinished) -> None:
        for parcel in lane.waiting:
            parcel.call.reject(reason)
        lane.waiting.clear()


def packed(parcels: Iterable[Parcel], courier: Courier) -> Iterator[list[Parcel]]:
    """Yield the parcels in groups that one batch can hold: one path, one set of headers, within the bounds."""
    most_calls = min(MOST_CALLS, courier.api.most_items)
    most_bytes = min(MOST_BYTES, courier.api.most_bytes)
    kinds: dict[object, list[Parcel]] = {}
    for parcel in parcels:
        kinds.setdefault((parcel.request.path, parcel.request.headers), []).append(parcel)
    for kind in kinds.values():
        group, size = list[Parcel](), 0
        for parcel in kind:
            length = len(parcel.request.body) + ENVELOPE
            if group and (len(group) >= most_calls or size + length > most_bytes):
                yield group
                group, size = [], 0
            group.append(parcel)
            size += length
        yield group

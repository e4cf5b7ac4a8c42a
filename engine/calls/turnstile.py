"""Who may send next: one FIFO queue per account, with one dispatcher that alone takes from the limits.

A grant is a permit of the limits and a reservation of money, taken together at the head of the queue. Reserving
earlier would starve the cap: a thousand queued calls would hold money that none of them is spending.

    Turnstile             the queue; who grants is left open
      OwnTurnstile        grants from limits and money of this process alone
      SharedTurnstile     asks for grants of what several processes share    (engine.shards.turnstile)
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from ..errors import Unfinished
from .budget import Budget
from .limits.account import AccountLimits
from .limits.clock import Clock
from .limits.limiter import Limiter
from .pace import Tick

WAITS_FOR_MONEY: Final = "money in flight to come back"


@dataclass(slots=True, eq=False)
class Ticket:
    """A call that waits for its grant. `tokens` and `usd` are upper bounds."""

    model: str
    tokens: float
    usd: Decimal
    since: float
    granted: asyncio.Future[None] = field(repr=False)


class Purse:
    """The run's budget, and the turnstiles to wake when money comes free."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.turnstiles: list[Turnstile] = []

    def settle(self, amount: Decimal, cost: Decimal | None) -> None:
        """Settle a reservation and wake whoever waits for money."""
        self.budget.settle(amount, cost)
        for turnstile in self.turnstiles:
            turnstile.wake()

    def exhausted(self, next_call: Decimal, committed: Decimal | None = None) -> Unfinished:
        """Return the reason to stop: nothing is on the wire and the next call does not fit under the cap.

        `committed` is what all who share the budget have committed; None: nobody else does.
        """
        budget = self.budget
        spent = f"${budget.known:.6f} spent, ${budget.exposed:.6f} exposed"
        if committed is None:
            committed = budget.committed
        else:
            spent = f"at most ${committed:.6f} spent by all shards"
        left = max(Decimal(0), (budget.cap or 0) - committed)  # a provider may bill more than it was to
        return Unfinished(
            "budget",
            f"the budget is reached: the next call may cost up to ${next_call:.6f}, more than the "
            f"${left:.6f} left of ${budget.cap} ({spent}). --max-tokens lowers what a "
            "call may cost, --max-cost raises the cap.",
        )


class Turnstile(ABC):
    """The queue of one account. `limits` learn from the replies to what it lets through."""

    def __init__(self, limits: Limiter, purse: Purse, clock: Clock) -> None:
        self.limits: Limiter = limits
        self._purse = purse
        self._clock = clock
        self._waiting: deque[Ticket] = deque()
        self._closed: Unfinished | None = None
        purse.turnstiles.append(self)

    @abstractmethod
    def wake(self) -> None:
        """Something changed that may let the head of the queue go: look soon, once for all changes."""

    @abstractmethod
    def _grant_now(self, tokens: float, usd: Decimal) -> bool:
        """Grant a call that nobody waits before, if that can be told without waiting; return whether it was."""

    async def enter(self, model: str, tokens: float, usd: Decimal, *, again: bool = False) -> None:
        """Return when a call may be sent: limits taken and `usd` reserved. `again` puts a retry at the head.

        Raises Unfinished when the run is ending, the model has stopped, or the cap is reached.
        """
        if self._closed:
            raise Unfinished(self._closed.why, self._closed.message)
        if not self._waiting and self._grant_now(tokens, usd):
            return
        ticket = Ticket(model, tokens, usd, self._clock(), asyncio.get_running_loop().create_future())
        (self._waiting.appendleft if again else self._waiting.append)(ticket)
        self.wake()
        try:
            await ticket.granted
        except asyncio.CancelledError:
            if ticket.granted.done() and not ticket.granted.cancelled() and not ticket.granted.exception():
                self.leave(tokens, 0.0, usd, Decimal(0))
            self.wake()
            raise

    def leave(self, tokens: float, used: float | None, usd: Decimal, cost: Decimal | None) -> None:
        """A granted call has landed: `used` tokens and `cost` replace what was reserved; None where nobody knows."""
        self.limits.land(tokens, used)
        self._purse.settle(usd, cost)

    def reject(self, reason: Unfinished, model: str | None = None) -> None:
        """Turn away everyone who waits (for `model`, or all)."""
        for ticket in [t for t in self._waiting if model in (None, t.model)]:
            if not ticket.granted.done():
                ticket.granted.set_exception(Unfinished(reason.why, reason.message))
        self.wake()

    def close(self, reason: Unfinished) -> None:
        """Grant nothing any more: whoever waits, and whoever comes, is turned away."""
        self._closed = reason
        self.reject(reason)

    def head(self) -> tuple[float, str] | None:
        """Return how long the first in the queue has waited, in seconds, and for what."""
        if not self._waiting:
            return None
        first = self._waiting[0]
        return self._clock() - first.since, self._why(first)

    @abstractmethod
    def _why(self, first: Ticket) -> str:
        """Return for what the first in the queue waits."""


class OwnTurnstile(Turnstile):
    """Grants from this process's limits and money: by `_serve`, once in a tick of the loop that may let the head go."""

    def __init__(self, limits: AccountLimits, purse: Purse, clock: Clock) -> None:
        super().__init__(limits, purse, clock)
        self._own = limits
        self._alarm: asyncio.TimerHandle | None = None
        self._tick = Tick(self._serve)

    def wake(self) -> None:
        """Look in the next tick."""
        if self._waiting:
            self._tick.ask()

    def _grant_now(self, tokens: float, usd: Decimal) -> bool:
        if self._blocked(tokens, usd) != 0:
            return False
        self._grant(tokens, usd)
        return True

    def _why(self, first: Ticket) -> str:
        return self._own.why(first.tokens) if self._purse.budget.fits(first.usd) else WAITS_FOR_MONEY

    def _blocked(self, tokens: float, usd: Decimal) -> float | None:
        """Return the seconds until a call may go: 0 now, None when only an event can tell, which then wakes."""
        if self._tick.full or not self._purse.budget.fits(usd):
            return None
        return self._own.wait(tokens)

    def _grant(self, tokens: float, usd: Decimal) -> None:
        self._own.take(tokens)
        self._purse.budget.reserve(usd)
        self._tick.take()

    def _serve(self) -> None:
        """Grant from the head of the queue until it is empty or blocked; the only place that looks at the clock."""
        while self._waiting:
            head = self._waiting[0]
            if head.granted.done():
                self._waiting.popleft()
            elif wait := self._blocked(head.tokens, head.usd):
                self._set_alarm(wait)
                return
            elif wait is None:
                self._stop_if_broke(head.usd)
                return
            else:
                self._waiting.popleft()
                self._grant(head.tokens, head.usd)
                head.granted.set_result(None)

    def _set_alarm(self, seconds: float) -> None:
        """Serve again when a limit lets the head go; a landing call or a change may come before."""
        if self._alarm:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_later(seconds, self.wake)

    def _stop_if_broke(self, usd: Decimal) -> None:
        """Nothing is reserved that could come back, and the next call does not fit under the cap: the run stops."""
        if self._purse.budget.reserved == 0 and not self._purse.budget.fits(usd):
            self.close(self._purse.exhausted(usd))

"""All limits of one account, as one question: may a call go now, and if not, when."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from ....adapters.base import Fault, Json, LimitHint
from .clock import Clock
from .flight import Flight
from .requests import RequestRate
from .tokens import TokenRate

RATE_DECREASE: Final = 0.9
RATE_FLOOR: Final = 0.25
"""The share of a stated limit below which push-backs do not lower it. A provider that refuses at any rate, being short
of machines, would otherwise talk an account down to nothing; from here on its pauses alone slow us."""

RECOVERY_SECONDS: Final = 60.0
RATE_RECOVERY: Final = 0.02
BOLDEST_RECOVERY: Final = 0.32
"""A lowered rate grows by 2 % after a quiet minute, then 4 %, and so on: careful near what was refused, and soon back
after a bad hour."""

LONGEST_WINDOW: Final = 3600.0

RETURN: Final = 1.0
"""Seconds over which those who waited for a pause come back, each after a gap of its own: nobody returns in step. After
a shorter pause, as long as that one was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the user knows of an account. None: not known; the headers and the server's push-backs then decide."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    in_flight: int = 256
    adaptive: bool | None = None

    @property
    def finds_its_bound(self) -> bool:
        """Whether calls in flight start low and are found: by default where no rate is known."""
        return self.requests_per_minute is None if self.adaptive is None else self.adaptive


Change = Callable[[dict[str, Json]], None]


class AccountLimits:
    """The limiter of one account.

    `on_change` receives a record of every change of a limit and every pause: what, old, new, why.
    """

    def __init__(self, limits: Limits, clock: Clock, on_change: Change) -> None:
        self._clock = clock
        self._on_change = on_change
        self._known = limits
        self.flight = Flight(limits.in_flight, adaptive=limits.finds_its_bound)
        self.requests = RequestRate(limits.requests_per_minute, clock) if limits.requests_per_minute else None
        self.tokens = TokenRate(limits.tokens_per_minute, clock) if limits.tokens_per_minute else None
        self.paused_until = -math.inf
        self._return = RETURN
        self._next_return = -math.inf
        self._chance = random.Random()
        self.pause_reason = ""
        self.pauses = 0
        self._stated = limits.requests_per_minute
        self._changed_at = clock()
        self._recovery = RATE_RECOVERY

    @property
    def bound(self) -> int:
        """See Limiter."""
        return self.flight.bound

    @property
    def per_minute(self) -> float | None:
        """See Limiter."""
        return self.requests.per_minute if self.requests else None

    def wait(self, tokens: float) -> float | None:
        """Return the seconds until a call may go: 0 now, None when only a landing call can tell."""
        if self.flight.full():
            return None
        pause = max(self.paused_until, self._next_return) - self._clock()
        by_requests = self.requests.wait() if self.requests else 0.0
        by_tokens = self.tokens.wait(tokens) if self.tokens else 0.0
        return max(0.0, pause, by_requests, by_tokens)

    def why(self, tokens: float) -> str:
        """Return what a waiting call waits for, for the progress display."""
        if self.flight.full():
            return "calls in flight"
        if self.paused_until > self._clock():
            return self.pause_reason
        if self.requests and self.requests.wait() > 0:
            return "requests per minute"
        return "tokens per minute"

    def take(self, tokens: float) -> None:
        """A call goes now; soon after a pause, the next one goes a little later."""
        self.flight.enter()
        now = self._clock()
        if now - self.paused_until < self._return:
            self._next_return = now + self._chance.uniform(0.0, 2 * self._return / self.flight.bound)
        if self.requests:
            self.requests.take()
        if self.tokens:
            self.tokens.take(tokens)

    def land(self, reserved: float, used: float | None) -> None:
        """A call came back or was given up; `used` is None when nobody knows, and the reservation then stands."""
        self.flight.leave()
        if self.tokens and used is not None:
            self.tokens.refund(reserved - used)

    def answered(self) -> None:
        """The server answered: the bound may grow, a lowered rate may recover."""
        old = self.flight.bound
        if self.flight.success():
            self._on_change({"limit": "in_flight", "old": old, "new": self.flight.bound, "why": "answers"})
        if self.requests and self._stated and self.requests.per_minute < self._stated:
            self._recover(self.requests, self._stated)

    def pushed_back(self, fault: Fault, fallback: float) -> None:
        """The server asked for less: pause everyone once until its time, and lower what can be lowered.

        `fallback` is the pause in seconds when the server named none. Calls that were on the wire when the pause
        began bring their own 429s; those neither prolong a pause that already covers them nor lower a limit twice.
        """
        now = self._clock()
        until = now + (fault.retry_after if fault.retry_after is not None else fallback)
        fresh = self.paused_until <= now
        self._pause(until, f"{fault.kind} (server asked for {until - now:.1f} s)")
        if not fresh:
            return
        self.pauses += 1
        self._on_change({"limit": "pause", "old": None, "new": round(until - now, 3), "why": fault.kind})
        old = self.flight.bound
        if self.flight.push_back():
            self._on_change({"limit": "in_flight", "old": old, "new": self.flight.bound, "why": fault.kind})
        if self.requests and self._stated:
            self._recovery = RATE_RECOVERY
            lowered = max(self.requests.per_minute * RATE_DECREASE, self._stated * RATE_FLOOR)
            self._set_requests(min(lowered, self.requests.per_minute), fault.kind)

    def hinted(self, hints: Iterable[LimitHint]) -> None:
        """Take in what a reply's headers said of the limits."""
        for hint in hints:
            # A day's allowance (Groq) is no pace: spread over the day it would stop a run that fits it easily.
            if hint.limit and hint.window <= LONGEST_WINDOW:
                self._adopt(hint.resource, hint.limit * 60 / hint.window)
            if hint.remaining == 0 and hint.reset:
                self._hold(hint.reset, f"{hint.resource} used up (server resets in {hint.reset:.1f} s)")

    def _hold(self, seconds: float, reason: str) -> None:
        self._pause(self._clock() + min(seconds, 60.0), reason)

    def _pause(self, until: float, reason: str) -> None:
        """Hold everyone until then; a pause that lasts longer stays."""
        if until > self.paused_until:
            self.paused_until, self.pause_reason = until, reason
            self._return = min(RETURN, until - self._clock())

    def _adopt(self, resource: str, per_minute: float) -> None:
        if resource == "tokens":
            if self.tokens is None:
                self.tokens = TokenRate(per_minute, self._clock)
            elif per_minute < self.tokens.per_minute or self._known.tokens_per_minute is None:
                self.tokens.set(min(per_minute, self._known.tokens_per_minute or per_minute))
            return
        ceiling = min(per_minute, self._known.requests_per_minute or per_minute)
        self._stated = ceiling
        if self.requests is None:
            self.requests = RequestRate(ceiling, self._clock)
            self._on_change({"limit": "requests_per_minute", "old": None, "new": ceiling, "why": "headers"})
        elif abs(ceiling - self.requests.per_minute) > 1e-9 and ceiling < self.requests.per_minute:
            self._set_requests(ceiling, "headers")

    def _set_requests(self, per_minute: float, why: str) -> None:
        assert self.requests is not None
        old = self.requests.per_minute
        self.requests.set(max(1.0, per_minute))
        self._changed_at = self._clock()
        if self.requests.per_minute == old:
            return
        self._on_change(
            {
                "limit": "requests_per_minute",
                "old": round(old, 3),
                "new": round(self.requests.per_minute, 3),
                "why": why,
            }
        )

    def _recover(self, requests: RequestRate, stated: float) -> None:
        if self._clock() - self._changed_at >= RECOVERY_SECONDS:
            self._set_requests(min(stated, requests.per_minute * (1 + self._recovery)), "recovery")
            self._recovery = min(self._recovery * 2, BOLDEST_RECOVERY)

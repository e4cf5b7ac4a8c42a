"""Requests per minute, on asyncio-throttle's exact sliding log."""

from __future__ import annotations

import math
from typing import Final

from asyncio_throttle.throttler import Throttler

from .clock import Clock

SLICE: Final = 0.2
"""A limit per minute is served in slices of this many seconds, so that it never fires all at once at its edge."""

HEADROOM: Final = 0.985
"""The share of a known limit that is used: a late wake-up or a jittery network can bring two windows close together."""

LATE: Final = 0.05
"""A wake-up that is late by up to this many seconds is made good. Without it every lateness would push all later
requests back: one of 2 ms at each request costs 2 % of 600 a minute. It stays far within what the headroom leaves."""


class RequestRate(Throttler):
    """At most `per_minute` requests a minute, evenly: a few per slice.

    Waiting is left to the queue's one dispatcher, which sleeps exactly `wait()` seconds; asyncio-throttle's own
    waiters poll, and thousands of them would cost more than the calls they guard.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        super().__init__(rate_limit=1)
        self._clock = clock
        self.per_minute = per_minute
        self.set(per_minute)

    def set(self, per_minute: float) -> None:
        """Change the limit; what was sent already stays in the log."""
        self.per_minute = per_minute
        per_slice = per_minute * HEADROOM * SLICE / 60
        self.rate_limit = max(1, math.floor(per_slice))
        self.period = self.rate_limit * 60 / (per_minute * HEADROOM)

    def flush(self) -> None:
        """Forget what left the window, by the injected clock."""
        edge = self._clock() - self.period - LATE
        while self._task_logs and self._task_logs[0] <= edge + 1e-9:
            self._task_logs.popleft()

    def wait(self) -> float:
        """Return the seconds until the next request may be sent; 0 when it may be sent now."""
        self.flush()
        if len(self._task_logs) < self.rate_limit:
            return 0.0
        return max(0.0, self._task_logs[-self.rate_limit] + self.period - self._clock())

    def take(self) -> None:
        """Note one request: as sent when it was due, if that was just now."""
        now = self._clock()
        due = self._task_logs[-self.rate_limit] + self.period if len(self._task_logs) >= self.rate_limit else now
        self._task_logs.append(min(now, max(due, now - LATE)))

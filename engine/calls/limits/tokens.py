"""Tokens per minute: reserved before a call, refunded when it used fewer."""

from __future__ import annotations

from typing import Final

from .clock import Clock

BURST_SECONDS: Final = 3.0
"""How many seconds' worth may be sent at once; small, so that no sliding window of the server's sees much more
than its limit."""

HEADROOM: Final = 0.95


class TokenRate:
    """A bucket that fills with `per_minute` tokens a minute.

    A call larger than the bucket is let through when the bucket is full and leaves a debt, so that it waits once,
    not for ever.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._clock = clock
        self._filled = clock()
        self.per_minute = per_minute
        self._level = self._capacity

    @property
    def _rate(self) -> float:
        return self.per_minute * HEADROOM / 60

    @property
    def _capacity(self) -> float:
        return self._rate * BURST_SECONDS

    def set(self, per_minute: float) -> None:
        """Change the limit from now on."""
        self._fill()
        self.per_minute = per_minute
        self._level = min(self._level, self._capacity)

    def wait(self, tokens: float) -> float:
        """Return the seconds until a call of `tokens` may be sent; 0 when it may be sent now."""
        self._fill()
        lacking = min(tokens, self._capacity) - self._level
        return lacking / self._rate if lacking > 1e-6 else 0.0

    def take(self, tokens: float) -> None:
        """Reserve `tokens`."""
        self._fill()
        self._level -= tokens

    def refund(self, tokens: float) -> None:
        """Give back what a call reserved and did not use; negative when it used more."""
        self._fill()
        self._level = min(self._capacity, self._level + tokens)

    def _fill(self) -> None:
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._filled) * self._rate)
        self._filled = now

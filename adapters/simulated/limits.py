"""The limits of a simulated account: honest in what they let through and in what they say of themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

from ..base import LimitHint
from .config import Limits
from .failure import Failure

Clock: TypeAlias = Callable[[], float]
Rated: TypeAlias = Literal["requests", "tokens"]
Resource: TypeAlias = Rated | Literal["concurrent"]

_UNKNOWN_WAIT = 1.0
"""What a caller over the concurrency limit is told: nobody knows when a call in flight ends."""

_ROUNDING = 1e-6


class Allowance:
    """Units per minute by the generic cell rate algorithm (ITU-T I.371): a bucket held as one point in time.

    The bucket refills at `per_minute` / 60 a second and holds `window` seconds' worth. A cost above that is
    granted when the bucket is full, or it could never be.
    """

    def __init__(self, per_minute: int, window: float, clock: Clock) -> None:
        self.per_minute = per_minute
        self._seconds_per_unit = 60.0 / per_minute
        self._window = max(window, self._seconds_per_unit)
        self._clock = clock
        self._full_at = -math.inf

    def wait(self, cost: int) -> float:
        """Return the seconds until `cost` units fit if nobody else takes any; 0.0 when they fit now."""
        wait = self.reset() + min(cost * self._seconds_per_unit, self._window) - self._window
        return wait if wait > _ROUNDING else 0.0

    def take(self, units: int) -> None:
        """Take units, or give them back when negative."""
        self._full_at = max(self._full_at, self._clock()) + units * self._seconds_per_unit

    def reset(self) -> float:
        """Return the seconds until the bucket is full again."""
        return max(0.0, self._full_at - self._clock())

    def remaining(self) -> int:
        """Return the whole units that fit now."""
        return max(0, math.floor((self._window - self.reset() + _ROUNDING) / self._seconds_per_unit))

    def forget(self) -> None:
        """Fill the bucket."""
        self._full_at = -math.inf


class Gate:
    """One account's limits: requests and tokens per minute, calls in flight, and calls in all.

    A request that is refused costs nothing. Tokens are taken at the door as prompt plus `max_tokens`, and settled to
    what was used once the answer is known, as the providers' own limiters do.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._allowances: dict[Rated, Allowance] = {}
        if limits.requests_per_minute is not None:
            self._allowances["requests"] = Allowance(limits.requests_per_minute, limits.window, clock)
        if limits.tokens_per_minute is not None:
            self._allowances["tokens"] = Allowance(limits.tokens_per_minute, limits.window, clock)
        self._in_flight = 0
        self._answered = 0

    def enter(self, tokens: int) -> None:
        """Let one request in, or raise the Failure that says which limit it met and for how long."""
        if self._limits.quota is not None and self._answered >= self._limits.quota:
            raise Failure("quota", "You exceeded your current quota, please check your plan and billing details.")
        if self._limits.concurrent is not None and self._in_flight >= self._limits.concurrent:
            raise _refusal("concurrent", self._limits.concurrent, _UNKNOWN_WAIT)
        costs: dict[Rated, int] = {"requests": 1, "tokens": tokens}
        refusals = [
            _refusal(name, allowance.per_minute, wait)
            for name, allowance in self._allowances.items()
            if (wait := allowance.wait(costs[name])) > 0
        ]
        if refusals:
            raise max(refusals, key=lambda refusal: refusal.retry_after or 0.0)
        for name, allowance in self._allowances.items():
            allowance.take(costs[name])
        self._in_flight += 1

    def leave(self) -> None:
        """Let one request out that had entered."""
        self._in_flight -= 1

    def settle(self, taken: int, used: int) -> None:
        """Book an answer, and correct the tokens that were taken for it to those it used."""
        self._answered += 1
        if tokens := self._allowances.get("tokens"):
            tokens.take(used - taken)

    def hints(self) -> tuple[LimitHint, ...]:
        """Return what the headers of a reply may say now: nothing where the limits do not tell."""
        if not self._limits.headers:
            return ()
        return tuple(
            LimitHint(
                resource=resource,
                limit=allowance.per_minute,
                remaining=allowance.remaining(),
                reset=allowance.reset(),
            )
            for resource, allowance in self._allowances.items()
        )

    def forget(self) -> None:
        """Start over, apart from the calls in flight."""
        self._answered = 0
        for allowance in self._allowances.values():
            allowance.forget()


def _refusal(resource: Resource, limit: int, wait: float) -> Failure:
    return Failure(
        resource,
        f"Rate limit reached for {resource}: limit {limit}. Please try again in {wait:.3f}s.",
        retry_after=wait,
    )

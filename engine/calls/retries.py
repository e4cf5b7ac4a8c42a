"""When to ask again: allow-lists only, one layer, after the first fault.

tenacity comes in only when the first attempt has failed, so that success costs nothing. Rate limits have a cap of
their own and never eat the attempts meant for faults; their waiting is done by the account's pause, once for everyone.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from ...adapters.base import Answer, Fault

PUSH_BACKS: Final = frozenset({"rate_limit", "overloaded"})


class Again(Exception):
    """An attempt that failed in a way that may pass."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how late a question is asked again.

    `faults`: retries after faults (0: none); `push_backs`: retries after 429 and 529; `first` and `longest`: back-off
    in seconds, doubling; `ceiling`: a server that asks for more than this many seconds parks the model instead.
    """

    faults: int = 5
    push_backs: int = 60
    first: float = 1.0
    longest: float = 60.0
    ceiling: float = 600.0


Sleep = Callable[[float], Awaitable[None]]
Attempt = Callable[[], Awaitable[Answer]]


async def carry_on(attempt: Attempt, first: Again, retries: Retries, jitter: random.Random, sleep: Sleep) -> Answer:
    """Ask again after a first failure until an answer comes; raise the last Again when the retries are used up."""
    patience = _Patience(retries, jitter)
    pending = [first]

    async def step() -> Answer:
        if pending:
            raise pending.pop()
        return await attempt()

    retrying = AsyncRetrying(
        retry=retry_if_exception_type(Again), wait=patience.wait, stop=patience.stop, sleep=sleep, reraise=True
    )
    return await retrying(step)


class _Patience:
    """How long and how often one question may still wait. tenacity asks `wait` before `stop`."""

    def __init__(self, retries: Retries, jitter: random.Random) -> None:
        self._retries = retries
        self._jitter = jitter
        self._faults = 0
        self._push_backs = 0

    def wait(self, state: RetryCallState) -> float:
        fault = _fault(state)
        if fault.kind in PUSH_BACKS:
            return self._jitter.uniform(0.0, self._retries.first)
        backoff = min(self._retries.longest, self._retries.first * 2**self._faults)
        return max(fault.retry_after or 0.0, backoff) + self._jitter.uniform(0.0, backoff)

    def stop(self, state: RetryCallState) -> bool:
        if _fault(state).kind in PUSH_BACKS:
            self._push_backs += 1
        else:
            self._faults += 1
        return self._push_backs > self._retries.push_backs or self._faults > self._retries.faults


def _fault(state: RetryCallState) -> Fault:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, Again)
    return error.fault

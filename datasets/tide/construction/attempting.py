"""Trying again: a piece that fails is asked for once more, with why, until one passes or the attempts are used up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from .prompts import Rejected
from .record import NO_JUDGEMENT, Attempt, StageRecord

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tried(Generic[T]):
    """One attempt: what passed, if anything did, and the raw answer that it was taken from."""

    attempt: Attempt
    passed: T | None = None
    text: str = ""


Try: TypeAlias = "Callable[[Sequence[Rejected]], Awaitable[Tried[T]]]"
"""Makes one attempt, given the answers that did not do."""


async def attempted(source: str, limit: int, once: Try[T]) -> tuple[StageRecord, T | None]:
    """Return the record of at most `limit` attempts, and what passed.

    Where a judge gave no judgement the attempts end: the candidate is not at fault, and another would fare no better.
    """
    attempts: list[Attempt] = []
    rejected: list[Rejected] = []
    while True:
        tried = await once(rejected)
        attempts.append(tried.attempt)
        if tried.passed is not None or len(attempts) == limit or tried.attempt.signal == NO_JUDGEMENT:
            return StageRecord(source=source, attempts=tuple(attempts)), tried.passed
        rejected.append(Rejected(tried.text, tried.attempt.signal, tried.attempt.detail))

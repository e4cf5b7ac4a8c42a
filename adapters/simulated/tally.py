"""What the simulated provider has seen: the counts that prove what was asked twice and what was paid twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..base import Json, Usage
from .limits import Clock


class Ledger:
    """Requests per call, where a call is an `Idempotency-Key` or, without one, the exact body.

    One 16-byte digest and one small integer are held per call (about 110 bytes in all).
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: dict[bytes, int] = {}  # 2 × requests + (1 if answered)
        self._not_before: dict[bytes, float] = {}
        self.keys = 0
        self.repeats = 0
        self.repeats_after_answer = 0
        self.answered_again = 0
        self.early = 0

    def arrive(self, call: bytes, *, keyed: bool) -> tuple[int, bool]:
        """Count a request. Return which attempt of its call it is, from 1, and whether the call was answered before."""
        attempts, answered = divmod(self._calls.get(call, 0), 2)
        self._calls[call] = 2 * (attempts + 1) + answered
        if keyed:
            self.keys += attempts == 0
            self.repeats += attempts > 0
            self.repeats_after_answer += answered
        if self._not_before and self._clock() < self._not_before.pop(call, 0.0):
            self.early += 1
        return attempts + 1, bool(answered)

    def answer(self, call: bytes, *, keyed: bool) -> None:
        """Count a complete answer: a second one for the same key was paid twice."""
        if seen := self._calls.get(call):  # forgotten when a reset came in between
            self.answered_again += keyed and seen % 2
            self._calls[call] = seen | 1

    def told_to_wait(self, call: bytes, seconds: float) -> None:
        """Remember what a call was told, so that one which comes back earlier is seen."""
        self._not_before[call] = self._clock() + seconds

    def counts(self) -> dict[str, Json]:
        """Return the counts under their public names."""
        return {
            "keys": self.keys,
            "repeats": self.repeats,
            "repeats_after_answer": self.repeats_after_answer,
            "paid_twice": self.answered_again,
            "early": self.early,
        }


@dataclass(slots=True)
class Count:
    """Requests of one model, or of all."""

    requests: int = 0
    answered: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    usage: Counter[str] = field(default_factory=Counter[str])

    def enter(self) -> None:
        """Count a request in."""
        self.requests += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def answer(self, usage: Usage | None) -> None:
        """Count an answer and its tokens."""
        self.answered += 1
        if usage is not None:
            self.usage["input"] += usage.input_tokens
            self.usage["cached"] += usage.cached_tokens
            self.usage["output"] += usage.output_tokens
            self.usage["reasoning"] += usage.reasoning_tokens

    def forget(self) -> None:
        """Start over, apart from what is in flight."""
        self.requests = self.answered = 0
        self.most_in_flight = self.in_flight
        self.usage.clear()

    def snapshot(self) -> dict[str, Json]:
        """Return the counts under their public names."""
        return {
            "requests": self.requests,
            "answered": self.answered,
            "in_flight": {"now": self.in_flight, "most": self.most_in_flight},
            "tokens": {kind: self.usage[kind] for kind in ("input", "cached", "output", "reasoning")},
        }


class Tally:
    """Everything that `GET /stats` shows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ledger = Ledger(clock)
        self.all = Count()
        self.models: dict[str, Count] = {}
        self.status: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.mistakes: Counter[str] = Counter()
        self.batches: Counter[str] = Counter()

    def model(self, name: str) -> Count:
        """Return the counts of one model."""
        return self.models.setdefault(name, Count())

    def forget(self) -> None:
        """Start over, apart from what is in flight."""
        self.ledger = Ledger(self._clock)
        self.models = {name: count for name, count in self.models.items() if count.in_flight}
        for count in (self.all, *self.models.values()):
            count.forget()
        for counter in (self.status, self.faults, self.mistakes, self.batches):
            counter.clear()

    def snapshot(self) -> dict[str, Json]:
        """Return all counts as one JSON object."""
        return {
            "simulated": True,
            **self.all.snapshot(),
            **self.ledger.counts(),
            "by_status": dict(sorted(self.status.items())),
            "by_fault": dict(sorted(self.faults.items())),
            "by_mistake": dict(sorted(self.mistakes.items())),
            "batches": {name: self.batches[name] for name in ("made", "items", "expired_items", "replies_lost")},
            "by_model": {name: count.snapshot() for name, count in sorted(self.models.items())},
        }

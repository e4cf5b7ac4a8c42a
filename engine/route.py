"""How questions for one model travel: which account, which prices, which options, and whether the way is still open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from ..adapters.base import Account, Json, Provider, Transport, Usage
from .errors import Unfinished
from .turnstile import Turnstile


class Price(Protocol):
    """What a model costs, in USD (see `adapters.prices`)."""

    def cost(self, usage: Usage) -> Decimal:
        """Return what a call of this usage cost."""
        ...

    def worst_case(self, body_bytes: int, max_output_tokens: int | None) -> Decimal:
        """Return an upper bound of what a call can cost, known before it is sent."""
        ...


@dataclass(slots=True, eq=False, kw_only=True)
class Route:
    """One model of a run. `label` names it in units and reports; `price` is None where none is known (and no cap)."""

    label: str
    name: str
    provider: Provider
    account: Account
    options: Mapping[str, Json]
    transport: Transport
    turnstile: Turnstile
    price: Price | None
    stopped: Unfinished | None = None
    answers: int = 0
    failures: dict[str, int] = field(default_factory=dict[str, int])

    def worst_case(self, body_bytes: int) -> Decimal:
        """Return the most that a call with this body can cost."""
        limit = self.options.get("max_tokens")
        return (
            self.price.worst_case(body_bytes, limit if isinstance(limit, int) else None) if self.price else Decimal(0)
        )

    def tokens(self, body_bytes: int) -> float:
        """Return the tokens to reserve for a call with this body: about four bytes a token, and what it may write."""
        limit = self.options.get("max_tokens")
        return body_bytes / 4 + (limit if isinstance(limit, int) else 1024)

    def stop(self, message: str) -> Unfinished:
        """Close this way for the rest of the run, once; the other models go on."""
        if self.stopped is None:
            self.stopped = Unfinished("model", f"{self.label} stopped: {message}")
            self.turnstile.reject(self.stopped, self.label)
        return Unfinished("model", self.stopped.message)

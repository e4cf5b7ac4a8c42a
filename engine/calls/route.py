"""How questions for one model travel: which account, which prices, which options, and whether the way is still open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, Protocol

from ...adapters.base import Account, Json, Transport, Usage
from ...adapters.batches.base import BatchFormat
from ...adapters.prices import UnknownPrice
from ...adapters.provider import Provider
from ..errors import Unfinished
from .turnstile import Turnstile

BYTES_PER_TOKEN: Final = 4

_USUAL_OUTPUT: Final = 1024
"""Tokens that an answer is thought to have at most where nothing bounds it."""


class Price(Protocol):
    """What a model costs, in USD (see `adapters.prices`)."""

    def cost(self, usage: Usage) -> Decimal:
        """Return what a call of this usage cost."""
        ...

    def worst_case(self, body_bytes: int, max_output_tokens: int | None) -> Decimal:
        """Return an upper bound of what a call can cost, known before it is sent."""
        ...


def longest_output(options: Mapping[str, Json]) -> int | None:
    """Return the most tokens that an answer may have by its options, or None where they do not say."""
    limit = options.get("max_tokens")
    return limit if isinstance(limit, int) else None


def reserved_tokens(body_bytes: int, options: Mapping[str, Json]) -> float:
    """Return the tokens to reserve for a call: about four bytes of its body a token, and what it may write."""
    return body_bytes / BYTES_PER_TOKEN + (longest_output(options) or _USUAL_OUTPUT)


def most(price: Price, body_bytes: int, options: Mapping[str, Json]) -> Decimal | None:
    """Return the most that a call can cost, in USD, or None where nothing bounds its output."""
    try:
        return price.worst_case(body_bytes, longest_output(options))
    except UnknownPrice:
        return None


def worst_case(price: Price | None, body_bytes: int, options: Mapping[str, Json]) -> Decimal:
    """Return the most that a call with this body can cost; 0 where nobody knows, which no cap allows."""
    return (most(price, body_bytes, options) if price else None) or Decimal(0)


def cost_of(price: Price | None, usage: Usage | None) -> Decimal | None:
    """Return what a call cost; None where nobody knows: no price, or no usage."""
    return price.cost(usage) if price and usage else None


@dataclass(frozen=True, slots=True)
class BatchWay:
    """How a model's calls travel in batches, and what they cost then."""

    api: BatchFormat
    price: Price | None


@dataclass(slots=True, eq=False, kw_only=True)
class Route:
    """One model of a run. `label` names it in units and reports; `price` is None where none is known (and no cap).

    `batch` is None where the provider has no batch API for this format.
    """

    label: str
    name: str
    provider: Provider
    account: Account
    options: Mapping[str, Json]
    transport: Transport
    turnstile: Turnstile
    price: Price | None
    batch: BatchWay | None = None
    stopped: Unfinished | None = None
    answers: int = 0

    def worst_case(self, body_bytes: int, options: Mapping[str, Json]) -> Decimal:
        """Return the most that a call with this body can cost; 0 where nobody knows, which no cap allows."""
        return worst_case(self.price, body_bytes, options)

    def tokens(self, body_bytes: int, options: Mapping[str, Json]) -> float:
        """Return the tokens to reserve for a call with this body."""
        return reserved_tokens(body_bytes, options)

    def stop(self, message: str, why: Literal["model", "parked"] = "model") -> Unfinished:
        """Close this way for the rest of this part of the run, once; the other models go on."""
        if self.stopped is None:
            self.stopped = Unfinished(why, f"{self.label} {'stopped' if why == 'model' else why}: {message}")
            self.turnstile.reject(self.stopped, self.label)
        return Unfinished(self.stopped.why, self.stopped.message)

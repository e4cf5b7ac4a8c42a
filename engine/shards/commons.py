"""What the shards of a run hold in common, kept in Redis: one key, one script, one visit at a time (commons.lua)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from ...adapters.base import ConfigurationError
from ...adapters.redaction import public_url
from ..calls.limits import account, flight, requests, tokens

EXPIRY: Final = 7 * 24 * 3600
"""Seconds after the last visit when Redis drops a run's state. Nothing is lost by it: the journals hold the truth."""

LEASE: Final = 10.0
"""Seconds after its last visit when a shard counts as dead: its calls are no longer in flight, its money not free."""

CLAIM: Final = 1.0
"""Seconds for which a place is kept free for a shard that asked for it: who waits for one visits far more often."""

DEADLINE: Final = 5.0
"""Seconds for one visit, and for connecting."""

CLOCK: Final = "local time = redis.call('TIME')\nlocal now = tonumber(time[1]) + tonumber(time[2]) / 1e6\n"

RULES: Final = {
    "lease": LEASE,
    "claim": CLAIM,
    "expiry": EXPIRY,
    "start": flight.START,
    "flight_decrease": flight.DECREASE,
    "slice": requests.SLICE,
    "late": requests.LATE,
    "request_headroom": requests.HEADROOM,
    "token_headroom": tokens.HEADROOM,
    "burst_seconds": tokens.BURST_SECONDS,
    "rate_decrease": account.RATE_DECREASE,
    "rate_floor": account.RATE_FLOOR,
    "recovery": account.RATE_RECOVERY,
    "boldest_recovery": account.BOLDEST_RECOVERY,
    "recovery_seconds": account.RECOVERY_SECONDS,
    "longest_return": account.RETURN,
}

NANOS: Final = Decimal(10**9)
DEAREST: Final = Decimal(2**53) / NANOS
"""The highest cap, in USD, that Redis' numbers (doubles) hold to the billionth: about nine million."""

Client: TypeAlias = Any
"""redis-py's client, whose own annotations are of no help."""


class Ask(msgspec.Struct, frozen=True):
    """A call that waits: the most tokens that it can use, and the most that it can cost in billionths of a dollar."""

    tokens: float
    usd: int


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that an account's limits learn from; `kind` is a function of `happened` in commons.lua."""

    kind: str
    amount: float
    why: str = ""
    reason: str = ""


class Given(msgspec.Struct, frozen=True):
    """What the user knows of an account, as `limits.account.Limits` has it."""

    rpm: float | None
    tpm: float | None
    in_flight: int
    adaptive: bool


class Wish(msgspec.Struct, frozen=True):
    """What one account is visited for: calls in flight now, what happened since the last visit, and who waits."""

    name: str
    given: Given
    flight: int
    events: Sequence[Event]
    asks: Sequence[Ask]


class Book(msgspec.Struct, frozen=True):
    """What a shard's journal says that it may have spent; taken in where nothing is known of it, or to `replace` that.

    USD in billionths.
    """

    shard: str
    spent: int
    replace: bool = False


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """See commons.lua. `shard` is empty for a visit that only brings books, or that `ends` the run for all shards.

    Money in billionths of a USD: `spent` for good, at worst, and `held` by calls on the wire. `chance`, from 0 to 1, is
    drawn anew for each.
    """

    shards: int
    cap: int | None = None
    shard: str = ""
    life: str = ""
    number: int = 0
    claims: bool = False
    spent: int = 0
    held: int = 0
    accounts: Sequence[Wish] = ()
    books: Sequence[Book] = ()
    ends: str = ""
    chance: float = msgspec.field(default_factory=random.random)
    rules: dict[str, float] = msgspec.field(default_factory=lambda: RULES)


class Change(msgspec.Struct, frozen=True):
    """A limit that has changed, as journals have it (`k: limit`)."""

    limit: str
    new: float
    why: str
    old: float | None = None


class Granted(msgspec.Struct, frozen=True, kw_only=True):
    """How many of an account's asks may go, and of the next: for what it waits, and for how many seconds at least.

    `wait` is None where only somebody's landing call can tell. `broke`: nothing is held by any shard that could come
    back, and the next call does not fit under the cap.
    """

    granted: int
    bound: int
    why: str
    changes: list[Change]
    wait: float | None = None
    per_minute: float | None = None
    broke: bool = False


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a visit brings back. `fenced`: another process works on the shard; `committed` in billionths of a USD.

    `heard` says of each shard how many seconds ago it visited; only those that come for no shard are told.
    """

    accounts: list[Granted]
    ends: bool
    committed: float
    fenced: bool = False
    heard: list[tuple[str, float]] = []


class Commons:
    """The state of the run `run`, in the Redis of `client`."""

    def __init__(self, client: Client, run: str, clock: str = CLOCK) -> None:
        self._client = client
        self._key = f"turntide:run:{run}"
        self._script: Any = client.register_script(clock + Path(__file__).with_name("commons.lua").read_text("utf-8"))

    async def visit(self, visit: Visit, *more: object) -> Reply:
        """Visit once. Raises redis-py's errors, and TimeoutError."""
        raw: bytes = await self._script(keys=[self._key], args=[msgspec.msgpack.encode(visit), *more])
        return msgspec.msgpack.decode(raw, type=Reply)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._client.aclose()


async def connected(url: str) -> Client:
    """Return a client of the Redis at `url`; raises ConfigurationError when none answers."""
    redis, retry, backoff = (import_module(name) for name in ("redis.asyncio", "redis.asyncio.retry", "redis.backoff"))
    try:
        client: Client = redis.Redis.from_url(
            url,
            socket_timeout=DEADLINE,
            socket_connect_timeout=DEADLINE,
            retry=retry.Retry(backoff.NoBackoff(), 0),  # a visit that may have been heard is not said twice
        )
        await client.ping()
    except Exception as error:
        raise ConfigurationError(f"no Redis answers at {public_url(url)}: {error}") from None
    return client


async def in_time(url: str, seconds: float) -> Client:
    """Return a client of the Redis at `url`, which may be starting (again); raises as `connected` when time is up."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        try:
            return await connected(url)
        except ConfigurationError:
            if loop.time() > end:
                raise
            await asyncio.sleep(0.05)


def require_client(extra: str) -> None:
    """Raise ConfigurationError unless Python's package for Redis is installed; `extra` is ours that brings it."""
    if find_spec("redis") is None:
        raise ConfigurationError(
            f"shards meet in Redis, and its Python package is missing: pip install 'turntide[{extra}]'."
        )


def refuses(error: Exception) -> bool:
    """Return whether Redis answered, and would answer so again; else it is not there, or not yet."""
    return isinstance(error, import_module("redis").ResponseError)


def failure(error: Exception) -> str:
    """Return in words why a visit failed."""
    said = str(error).split("script:")[0].rstrip(" .")
    does = "refuses every visit" if refuses(error) else "does not answer"
    return f"Redis {does} ({type(error).__name__}: {said})"


def at_most(usd: Decimal) -> int:
    """Return an amount that was or may be spent in billionths of a dollar, rounded up."""
    return int((usd * NANOS).to_integral_value(ROUND_CEILING))


def cap_of(max_cost: str | None) -> int | None:
    """Return a cap in billionths of a dollar, rounded down. Raises ConfigurationError where Redis could not hold it."""
    if max_cost is None:
        return None
    if (cap := Decimal(max_cost)) > DEAREST:
        raise ConfigurationError(f"shards can share a cap of at most ${DEAREST:,.0f}: lower --max-cost.")
    return int((cap * NANOS).to_integral_value(ROUND_FLOOR))

"""Working memory in Redis, as the paper's agent keeps it (§5.6)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeAlias

import msgspec

from ....adapters.base import ConfigurationError
from ....adapters.redaction import public_url
from ....engine.errors import Unfinished
from .episode import Episode
from .working import window_before

PIPELINE = 1_000
"""Operations in one round trip."""
DEADLINE = 10.0
"""Seconds for one round trip, and for connecting."""
EXPIRY = 7 * 24 * 3600
"""Seconds after which Redis drops what a killed run left behind."""

Untyped: TypeAlias = Any
"""A value of redis-py's, whose own annotations are of no help."""
Command: TypeAlias = tuple[str | int | bytes, ...]


class RedisWorking:
    """One hash per session, turn numbers to episodes, under a namespace that no other run or attempt uses.

    Everything that concurrent dialogues ask for in one tick of the loop goes into one pipeline on one connection
    (redis-py's own pools raise or starve at a thousand tasks). Operations are idempotent, so one that may or may not
    have arrived can be sent again. A turn that Redis lost, or a server that is gone, stops the dialogue.
    """

    def __init__(self, client: Untyped, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._queue: list[tuple[Sequence[Command], asyncio.Future[Any]]] = []
        self._pump: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, url: str, namespace: str) -> RedisWorking:
        """Connect to `url`; `namespace` names run and attempt. Raises ConfigurationError when no server answers."""
        try:
            redis: Untyped = import_module("redis.asyncio")
            backoff: Untyped = import_module("redis.backoff")
        except ImportError:
            raise ConfigurationError("redis is not installed. Run `pip install 'turntide[redis]'`.") from None
        limits = {"socket_timeout": DEADLINE, "socket_connect_timeout": DEADLINE, "max_connections": 2}
        try:
            # One retry, without delay, for a connection that was dropped while it was idle.
            client = redis.Redis.from_url(url, retry=redis.retry.Retry(backoff.NoBackoff(), 1), **limits)
            await client.ping()
        except Exception as error:
            said = str(error).rstrip(".")
            raise ConfigurationError(
                f"no Redis answers at {public_url(url)}: {said}. (A run's folder keeps no login: where Redis asks for "
                f"one, the command that began the run goes on with it.)"
            ) from None
        return cls(client, namespace)

    async def remember(self, scope: str, episode: Episode) -> None:
        """See WorkingMemory."""
        key = self._key(scope)
        await self._do(("HSET", key, episode.turn, _encode(episode)), ("EXPIRE", key, EXPIRY))

    async def recent(self, scope: str, turn: int, window: int) -> tuple[Episode, ...]:
        """See WorkingMemory."""
        numbers = window_before(turn, window)
        if not numbers:
            return ()
        stored: list[bytes | None] = await self._do(("HMGET", self._key(scope), *numbers))
        return tuple(_decode(scope, number, raw) for number, raw in zip(numbers, stored, strict=True))

    async def clear(self, scope: str) -> None:
        """See WorkingMemory."""
        await self._do(("DEL", self._key(scope)))

    async def aclose(self) -> None:
        """Close the connections. Sessions that were not cleared expire."""
        if self._pump is not None:
            await asyncio.wait([self._pump])
        await self._client.aclose()

    def _key(self, scope: str) -> str:
        return f"turntide:{self._namespace}:{scope}"

    async def _do(self, *commands: Command) -> Untyped:
        """Send commands with the next pipeline and return the first one's reply."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append((commands, future))
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        """Send what has gathered, a pipeline at a time, until nothing is left; the first one a tick after the call."""
        while self._queue:
            batch, self._queue = self._queue[:PIPELINE], self._queue[PIPELINE:]
            try:
                replies = await self._round_trip([commands for commands, _ in batch])
            except Exception as error:
                replies = [error] * len(batch)
            for (_, future), reply in zip(batch, replies, strict=True):
                _settle(future, reply)

    async def _round_trip(self, batch: Sequence[Sequence[Command]]) -> list[Any]:
        """Return the reply to the first command of each operation, an exception where it was refused."""
        pipeline = self._client.pipeline(transaction=False)
        firsts: list[int] = []
        for commands in batch:
            firsts.append(len(pipeline))
            for command in commands:
                pipeline.execute_command(*command)
        async with asyncio.timeout(2 * DEADLINE):
            replies: list[Any] = await pipeline.execute(raise_on_error=False)
        return [replies[index] for index in firsts]


def _settle(future: asyncio.Future[Any], reply: Untyped) -> None:
    if future.done():  # its dialogue was cancelled meanwhile
        return
    if isinstance(reply, Exception):
        future.set_exception(Unfinished("infrastructure", f"Redis failed: {type(reply).__name__}: {reply}"))
    else:
        future.set_result(reply)


def _encode(episode: Episode) -> bytes:
    # The standard library's JSON, because lone surrogates survive it: memory must not differ from that in process.
    return json.dumps(msgspec.to_builtins(episode)).encode()


def _decode(scope: str, turn: int, raw: bytes | None) -> Episode:
    if raw is None:
        raise Unfinished("infrastructure", f"Redis lost turn {turn} of {scope}: restarted, or short of memory?")
    try:
        return msgspec.convert(json.loads(raw), Episode)
    except (ValueError, msgspec.ValidationError) as error:
        raise Unfinished("infrastructure", f"Redis holds something else for turn {turn} of {scope}: {error}") from error

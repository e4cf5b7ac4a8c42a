"""How well a limit is used, in real time, with more dialogues waiting than it lets through."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import uvloop
from turntide.adapters.base import Message, Usage
from turntide.adapters.simulated import Config, SimulatedServer
from turntide.adapters.simulated.config import Limits
from turntide.engine.context import Door
from turntide.engine.spec import Settings

from .engine import MODEL, context, opened
from .figures import Figure
from .folders import temporary

REQUESTS: Final = 600
TOKENS: Final = 120_000
"""What the engine is told of each minute."""

DIALOGUES: Final = 100
TURNS: Final = 5
LATENCY: Final = "lognormal:0.3:0.5"
PROMPT: Final = "Which customers ordered the most in that year? " * 10
MAX_TOKENS: Final = 50
BY_REQUESTS: Final = Settings(rpm=REQUESTS)


@dataclass(frozen=True, slots=True)
class Account:
    """One provider: what it enforces, by the second unless it says otherwise, and what the engine is told."""

    name: str
    limits: Limits
    told: Settings = BY_REQUESTS
    lower: bool = False


LOWER: Final = REQUESTS * 9 // 10
ACCOUNTS: Final = (
    Account("limit by the minute", Limits(requests_per_minute=REQUESTS)),
    Account("limit by the second", Limits(requests_per_minute=REQUESTS, window=1)),
    Account("10 % lower, told in headers", Limits(requests_per_minute=LOWER, window=1), lower=True),
    Account("10 % lower, told to nobody", Limits(requests_per_minute=LOWER, window=1, headers=False), lower=True),
    Account("limit on tokens", Limits(tokens_per_minute=TOKENS, window=5), told=Settings(tpm=TOKENS)),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """Requests that a provider has let in, those that it has turned away with 429, and tokens that were used."""

    let_in: int
    refused: int
    tokens: int

    def __sub__(self, earlier: Seen) -> Seen:
        return Seen(self.let_in - earlier.let_in, self.refused - earlier.refused, self.tokens - earlier.tokens)


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the share of each limit that is reached, and the share of requests that meet a 429.

    All accounts at the same time, each with an engine of its own, for 185 seconds (quick: 10).
    """
    settle, seconds = (2, 10) if quick else (60, 185)
    for account, (early, late) in zip(ACCOUNTS, uvloop.run(_all(settle, seconds)), strict=True):
        if account.lower:
            since = late - early
            share = 100 * since.refused / max(1, since.refused + since.let_in)
            yield Figure(name=f"429s after {settle} s, {account.name}", value=share, unit="%", at_most=1)
            continue
        reached, limit = (late.tokens, TOKENS) if account.told.tpm else (late.let_in, REQUESTS)
        share = 100 * reached / (limit / 60 * seconds)
        at_least = 90 if account.told.tpm else 97
        yield Figure(name=f"reached of {limit:,} a minute, {account.name}", value=share, unit="%", at_least=at_least)
        yield Figure(name=f"429s, {account.name}", value=late.refused, at_most=0)


async def _all(settle: float, seconds: float) -> list[tuple[Seen, Seen]]:
    return await asyncio.gather(*(_one(account, settle, seconds) for account in ACCOUNTS))


async def _one(account: Account, settle: float, seconds: float) -> tuple[Seen, Seen]:
    """Keep the engine busy with one account; return what was seen after `settle` seconds and at the end."""
    server = await asyncio.to_thread(SimulatedServer.start, Config(latency=LATENCY, limits=account.limits))
    try:
        with temporary() as folder:
            async with opened(account.told, server.base_url, Path(folder)) as door:
                crowd = Crowd(door)
                await asyncio.sleep(settle)
                early = await asyncio.to_thread(_look, server, crowd)
                await asyncio.sleep(seconds - settle)
                late = await asyncio.to_thread(_look, server, crowd)
                await crowd.leave()
                return early, late
    finally:
        await asyncio.to_thread(server.stop)


class Crowd:
    """Dialogues that go on for ever, and the tokens that they have used."""

    def __init__(self, door: Door) -> None:
        self.tokens = 0
        self._door = door
        self._numbers = count()
        self._talking = [asyncio.create_task(self._talk()) for _ in range(DIALOGUES)]

    async def leave(self) -> None:
        """Break all dialogues off."""
        for task in self._talking:
            task.cancel()
        await asyncio.gather(*self._talking, return_exceptions=True)

    async def _talk(self) -> None:
        for number in self._numbers:
            dialogue = context(self._door, str(number), TURNS)
            for turn in range(TURNS):
                question = Message("user", f"{PROMPT}{number} {turn}")
                answer = await dialogue.ask(MODEL, [question], max_tokens=MAX_TOKENS)
                usage = answer.usage or Usage()
                self.tokens += usage.input_tokens + usage.output_tokens


def _look(server: SimulatedServer, crowd: Crowd) -> Seen:
    stats = server.stats()
    statuses, requests = stats["by_status"], stats["requests"]
    assert isinstance(statuses, dict)
    refused = statuses.get("429", 0)
    assert isinstance(refused, int)
    assert isinstance(requests, int)
    return Seen(requests - refused, refused, crowd.tokens)

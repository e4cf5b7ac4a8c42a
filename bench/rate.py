"""How well a limit of 600 requests a minute is used, in real time, with more dialogues waiting than it lets through."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import uvloop
from turntide.adapters.base import Message
from turntide.adapters.simulated import Config, SimulatedServer
from turntide.adapters.simulated.config import Limits
from turntide.engine.spec import Settings

from .engine import MODEL, context, opened
from .figures import Figure
from .scratch import scratch

PER_MINUTE: Final = 600
DIALOGUES: Final = 100
TURNS: Final = 5
LATENCY: Final = "lognormal:0.3:0.5"


@dataclass(frozen=True, slots=True)
class Server:
    """What one simulated provider enforces, and what it is measured by."""

    name: str
    limits: Limits
    lower: bool = False


SERVERS: Final = (
    Server("limit by the minute", Limits(requests_per_minute=PER_MINUTE)),
    Server("limit by the second", Limits(requests_per_minute=PER_MINUTE, window=1)),
    Server("10 % lower, told in headers", Limits(requests_per_minute=PER_MINUTE * 9 // 10, window=1), lower=True),
    Server(
        "10 % lower, told to nobody",
        Limits(requests_per_minute=PER_MINUTE * 9 // 10, window=1, headers=False),
        lower=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """Requests that a server has let in, and those that it has turned away with 429."""

    let_in: int
    refused: int


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the share of the limit that is reached, and the share of requests that meet a 429.

    All servers at the same time, each with an engine of its own: 200 seconds, quick 45.
    """
    settle, seconds = (15, 45) if quick else (60, 200)
    pairs = uvloop.run(_all(settle, seconds))
    for server, (early, late) in zip(SERVERS, pairs, strict=True):
        if server.lower:
            refused, let_in = late.refused - early.refused, late.let_in - early.let_in
            share = 100 * refused / (refused + let_in)
            yield Figure(name=f"429 after {settle} s, {server.name}", value=share, unit="%", at_most=1)
        else:
            share = 100 * late.let_in / (PER_MINUTE / 60 * seconds)
            yield Figure(name=f"reached of {PER_MINUTE} a minute, {server.name}", value=share, unit="%", at_least=97)
            yield Figure(name=f"429s, {server.name}", value=late.refused, unit="", at_most=0)


async def _all(settle: float, seconds: float) -> list[tuple[Seen, Seen]]:
    with scratch() as folder:
        folders = [folder / str(number) for number in range(len(SERVERS))]
        for place in folders:
            place.mkdir()
        return await asyncio.gather(
            *(_one(server, place, settle, seconds) for server, place in zip(SERVERS, folders, strict=True))
        )


async def _one(server: Server, folder: Path, settle: float, seconds: float) -> tuple[Seen, Seen]:
    """Keep the engine busy against one server; return what that had seen after `settle` seconds and at the end."""
    simulated = await asyncio.to_thread(SimulatedServer.start, Config(latency=LATENCY, limits=server.limits))
    try:
        async with opened(Settings(rpm=PER_MINUTE), simulated.base_url, folder) as door:
            numbers = count()

            async def talk() -> None:
                for number in numbers:
                    dialogue = context(door, number, TURNS)
                    for turn in range(TURNS):
                        await dialogue.ask(MODEL, [Message("user", f"{number} {turn}")])

            talking = [asyncio.create_task(talk()) for _ in range(DIALOGUES)]
            await asyncio.sleep(settle)
            early = await asyncio.to_thread(_look, simulated)
            await asyncio.sleep(seconds - settle)
            late = await asyncio.to_thread(_look, simulated)
            for task in talking:
                task.cancel()
            await asyncio.gather(*talking, return_exceptions=True)
            return early, late
    finally:
        await asyncio.to_thread(simulated.stop)


def _look(simulated: SimulatedServer) -> Seen:
    stats = simulated.stats()
    statuses, requests = stats["by_status"], stats["requests"]
    assert isinstance(statuses, dict)
    refused = statuses.get("429", 0)
    assert isinstance(refused, int)
    assert isinstance(requests, int)
    return Seen(let_in=requests - refused, refused=refused)

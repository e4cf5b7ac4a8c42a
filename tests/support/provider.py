"""A provider that answers from a script, and what a run of calls needs around it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import orjson
from turntide.adapters.base import (
    Account,
    Answer,
    Fatal,
    Fault,
    LimitHint,
    Message,
    Question,
    Reply,
    Secret,
    TransportFault,
    Usage,
    WireReply,
    WireRequest,
)
from turntide.adapters.provider import Provider
from turntide.engine.calls.budget import Budget
from turntide.engine.calls.calls import Calls
from turntide.engine.calls.ledger import Ledger
from turntide.engine.calls.limits.account import AccountLimits, Limits
from turntide.engine.calls.limits.clock import loop_time
from turntide.engine.calls.retries import Retries
from turntide.engine.calls.route import Route
from turntide.engine.calls.turnstile import OwnTurnstile, Purse
from turntide.engine.closing import Closing
from turntide.engine.journal import Journal, Key
from turntide.engine.progress import Progress

Reaction = Reply | TransportFault


class PlainWire:
    """A wire format in which a reply's body is a number: the place of the reaction in the script."""

    def __init__(self, reactions: list[Reaction]) -> None:
        self._reactions = reactions

    def build(self, question: Question) -> WireRequest:
        text = [[message.role, message.content] for message in question.messages]
        return WireRequest("/ask", orjson.dumps([question.model, text, dict(question.options)]))

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        return (("authorization", key.reveal()),)

    def read(self, reply: WireReply, question: Question) -> Reply:
        reaction = self._reactions[int(reply.body)]
        assert not isinstance(reaction, TransportFault)
        return reaction

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        return ()


@dataclass
class ScriptedProvider:
    """Reacts to the n-th send as `react(n, body)` says, after `latency` seconds; keeps every send."""

    react: Callable[[int, bytes], Reaction]
    latency: Callable[[], float] = lambda: 0.01
    sends: list[tuple[bytes, str]] = field(default_factory=list[tuple[bytes, str]])
    in_flight: int = 0
    most: int = 0
    reactions: list[Reaction] = field(default_factory=list[Reaction])

    async def send(
        self, account: Account, request: WireRequest, headers: tuple[tuple[str, str], ...], deadline: float
    ) -> WireReply:
        reaction = self.react(len(self.sends), request.body)
        self.sends.append((request.body, dict(headers)["idempotency-key"]))
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(min(self.latency(), deadline))
        finally:
            self.in_flight -= 1
        if isinstance(reaction, TransportFault):
            raise reaction
        self.reactions.append(reaction)
        return WireReply(200, {}, str(len(self.reactions) - 1).encode())

    async def reached(self, sends: int) -> None:
        """Wait until that many questions were sent."""
        async with asyncio.timeout(10):
            while len(self.sends) < sends:  # noqa: ASYNC110
                await asyncio.sleep(0.001)

    async def aclose(self) -> None:
        """Nothing to close."""

    def provider(self) -> Provider:
        return Provider(name="scripted", wire=PlainWire(self.reactions), base_url="http://scripted")


class FixedPrice:
    """Every call costs what it says, and may have cost `worst`."""

    def __init__(self, worst: str = "0.05") -> None:
        self.worst = Decimal(worst)

    def cost(self, usage: Usage) -> Decimal:
        return Decimal(usage.output_tokens) / 1000

    def worst_case(self, body_bytes: int, max_output_tokens: int | None = None) -> Decimal:
        return self.worst


def good(text: str = "SELECT 1", output_tokens: int = 7) -> Answer:
    """An answer that came back whole."""
    return Answer(text=text, model="m-1", usage=Usage(input_tokens=100, output_tokens=output_tokens))


def fault(status: int = 500, **more: object) -> Fault:
    """A fault with a status."""
    kind = "rate_limit" if status == 429 else "server"
    return Fault(kind=kind, message=f"status {status}", status=status, **more)  # pyright: ignore[reportArgumentType]


def fatal() -> Fatal:
    """A bad key."""
    return Fatal(kind="key", message="the key is not valid", status=401)


def question(text: str = "How many?") -> Question:
    """A question of one message."""
    return Question(model="m", messages=(Message("user", text),))


@dataclass
class Bench:
    """Calls over a real journal and a scripted provider."""

    journal: Journal
    calls: Calls
    route: Route
    budget: Budget
    closing: Closing
    progress: Progress

    async def ask(self, unit: str, seq: int = 0, text: str = "How many?") -> Answer:
        return await self.calls.ask(Key(unit, "", seq), self.route, question(text), 0)


@asynccontextmanager
async def bench(
    folder: Path,
    scripted: ScriptedProvider,
    *,
    limits: Limits | None = None,
    cap: str | None = None,
    price: FixedPrice | None = FixedPrice(),  # noqa: B008 - frozen
    retries: Retries | None = None,
    attempt_timeout: float = 60.0,
) -> AsyncGenerator[Bench]:
    """Open the journal in `folder` and all that calls need; opening the same folder again is a resume."""
    budget, progress, closing = Budget(cap=Decimal(cap) if cap else None), Progress(), Closing()
    ledger, purse = Ledger(budget), Purse(budget)
    with Journal.open(folder / "journal.jsonl", visitors=[ledger.visit]) as journal:
        _open.append(journal)
        ledger.close()
        account = AccountLimits(limits or Limits(adaptive=False), loop_time, lambda _: None)
        turnstile = OwnTurnstile(account, purse, loop_time)
        route = Route(
            label="m",
            name="m",
            provider=scripted.provider(),
            account=Account(provider="scripted", base_url="http://scripted", key=Secret("sk-planted")),
            options={},
            transport=scripted,
            turnstile=turnstile,
            price=price,
        )
        closing.listeners.append(turnstile.close)
        calls = Calls(
            journal,
            ledger,
            run="run",
            retries=retries or Retries(),
            attempt_timeout=attempt_timeout,
            clock=loop_time,
            progress=progress,
            sleep=closing.sleep,
        )
        yield Bench(journal, calls, route, budget, closing, progress)
        await journal.durable()
        _open.remove(journal)


def writing() -> bool:
    """Whether a journal's thread is at work: a jumping clock must then stand still."""
    return any(journal.statistics().waiting for journal in _open)


_open: list[Journal] = []


def shuffled_latency(seed: int) -> Callable[[], float]:
    """Latencies between 0 and 20 ms."""
    chance = random.Random(seed)
    return lambda: chance.uniform(0, 0.02)

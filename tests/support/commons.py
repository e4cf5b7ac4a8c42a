"""Shards that visit what they hold in common by a clock that the test moves."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from turntide.engine.shards.commons import Ask, Book, Commons, Event, Given, Granted, Reply, Visit, Wish, connected

from .time import HandClock

BY_HAND = "local now = tonumber(ARGV[2])\n"
FREE = Given(rpm=None, tpm=None, in_flight=1_000, adaptive=False)


class Table:
    """The commons of one run in a real Redis; time passes when `clock` is moved."""

    def __init__(self, url: str) -> None:
        self.clock = HandClock()
        self._loop = asyncio.new_event_loop()
        self._client = self._loop.run_until_complete(connected(url))
        self.forget()

    def forget(self) -> None:
        """Lose everything, as a Redis does that is started anew."""
        self._commons = Commons(self._client, secrets.token_hex(8), BY_HAND)

    def visit(self, visit: Visit) -> Reply:
        return self._loop.run_until_complete(self._commons.visit(visit, self.clock.now))

    def close(self) -> None:
        self._loop.run_until_complete(self._commons.aclose())
        self._loop.close()


@dataclass
class Shard:
    """One shard as its link would speak for it: what it has in flight, has spent and holds is its own account."""

    table: Table
    number: int = 0
    shards: int = 1
    given: Given = FREE
    cap: int | None = None
    flight: int = 0
    spent: int = 0
    held: int = 0
    visits: int = 0
    life: str = field(default_factory=lambda: secrets.token_hex(4))

    def visit(self, *asks: Ask, events: Sequence[Event] = (), books: Sequence[Book] = ()) -> Reply:
        self.visits += 1
        return self.table.visit(
            Visit(
                shards=self.shards,
                cap=self.cap,
                shard=str(self.number),
                life=self.life,
                number=self.visits,
                claims=self.visits == 1,
                spent=self.spent,
                held=self.held,
                accounts=[Wish("account", self.given, self.flight, events, asks)],
                books=books,
            )
        )

    def ask(self, *asks: Ask, events: Sequence[Event] = ()) -> Granted:
        """Visit, and take what is granted."""
        granted = self.visit(*asks, events=events).accounts[0]
        for ask in asks[: granted.granted]:
            self.flight += 1
            self.held += ask.usd
        return granted

    def land(self, ask: Ask, cost: int | None) -> None:
        """A granted call came back at `cost`, or, None, nobody will ever know: the next visit says so."""
        self.flight -= 1
        self.held -= ask.usd
        self.spent += ask.usd if cost is None else cost

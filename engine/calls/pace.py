"""How many of those that are ready at once go on in one tick of the loop: the others wait for the next ones."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

BURST: Final = 32
"""Turns per tick: more at once would hold the loop for as long as they all take."""


class Tick:
    """Counts the turns of one tick of the loop; `begins` is called when the next one does, if it was asked for."""

    def __init__(self, begins: Callable[[], None]) -> None:
        self._begins = begins
        self._taken = 0
        self._is_due = False

    @property
    def full(self) -> bool:
        """Whether no more should go on in this one."""
        return self._taken >= BURST

    def take(self) -> None:
        """Count a turn, and ask for the next tick."""
        self._taken += 1
        self.ask()

    def ask(self) -> None:
        """Ask for the next tick, once for all who do."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        self._is_due = False
        self._taken = 0
        self._begins()


class Pace:
    """First come, first served; who comes alone does not wait."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._tick = Tick(self._go_on)

    async def turn(self) -> None:
        """Return in this tick, or in a later one when too many went on in this one."""
        if self._tick.full or self._waiting:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        else:
            self._tick.take()

    def _go_on(self) -> None:
        while self._waiting and not self._tick.full:
            turn = self._waiting.popleft()
            if not turn.done():
                self._tick.take()
                turn.set_result(None)

"""How many of those that are ready at once go on in one tick of the loop: the others wait for the next ones."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

BURST: Final = 32
"""Turns per tick: more at once would hold the loop for as long as they all take."""


class Pace:
    """First come, first served; who comes alone does not wait."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._taken = 0
        self._tick_is_due = False

    async def turn(self) -> None:
        """Return in this tick, or in a later one when too many went on in this one."""
        if self._taken >= BURST or self._waiting:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        else:
            self._take()

    def _take(self) -> None:
        self._taken += 1
        if not self._tick_is_due:
            self._tick_is_due = True
            asyncio.get_running_loop().call_soon(self._tick)

    def _tick(self) -> None:
        self._tick_is_due = False
        self._taken = 0
        while self._waiting and self._taken < BURST:
            turn = self._waiting.popleft()
            if not turn.done():
                self._take()
                turn.set_result(None)

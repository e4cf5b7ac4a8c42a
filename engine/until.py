"""`--until`: the moment by which a run has ended, however much of it is left."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final

from .closing import Closing
from .errors import Unfinished

ENDING: Final = 5.0
"""Seconds that are kept for ending: the journal's last group, the check of the databases, the summary."""

LOOK: Final = 10.0
"""Seconds between two looks at the wall clock: a machine that slept, or a clock that was set, is noticed then."""


class Until:
    """A moment of the wall clock, fixed as an instant when the run starts: no change to summer time moves it.

    Nothing is sent any more once what is on the wire needs the rest of the time to land. What is still out at the end
    is given up: each attempt's own deadline ends before the moment, and the call then counts at its worst case.
    """

    def __init__(self, moment: datetime, wall: Callable[[], float] = time.time) -> None:
        self._moment = moment.astimezone(UTC)
        self._wall = wall

    def __str__(self) -> str:
        return f"{self._moment.astimezone():%a %Y-%m-%d %H:%M %Z}"

    def left(self) -> float:
        """Return the seconds that are left for calls and statements; negative when there are none."""
        return self._moment.timestamp() - self._wall() - ENDING

    async def watch(
        self, closing: Closing, lead: Callable[[], float], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """Begin `closing` when what is left is no more than `lead()` seconds: what calls on the wire need to land."""
        while (rest := self.left() - lead()) > 0:
            await sleep(min(rest, LOOK))
        closing.begin(Unfinished("until", self._why()))

    def _why(self) -> str:
        """Return why nothing more is sent now: the moment may still be ahead."""
        left = self._moment.timestamp() - self._wall()
        if left <= 0:
            return f"its time is over: it was to end by {self} (--until)"
        return (
            f"it is to end by {self} (--until), and the {left:.0f} s that were left might not have sufficed "
            "for another answer or statement"
        )

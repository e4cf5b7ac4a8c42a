"""How a run ends before its plan does: admit nothing more, let the calls on the wire land, stay resumable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

from .errors import Unfinished

INTERRUPTED: Final = "interrupted; the same command goes on from here"


class Closing:
    """Whether the run is ending, and why. Dialogues ask before every step; sleepers are woken."""

    def __init__(self) -> None:
        self.reason: Unfinished | None = None
        self.listeners: list[Callable[[Unfinished], None]] = []
        self._begun = asyncio.Event()

    def begin(self, reason: Unfinished) -> None:
        """End the run for `reason`. Only the first reason counts."""
        if self.reason is not None:
            return
        self.reason = reason
        self._begun.set()
        for listener in self.listeners:
            listener(reason)

    def __call__(self) -> Unfinished | None:
        """Return a fresh reason to stop, or None while the run goes on."""
        return Unfinished(self.reason.why, self.reason.message) if self.reason else None

    async def during(self, work: Coroutine[None, None, None]) -> None:
        """Do `work`, or leave it as soon as the run is ending; work that cannot go on now ends it."""
        task, ending = asyncio.ensure_future(work), asyncio.ensure_future(self._begun.wait())
        try:
            await asyncio.wait({task, ending}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
        except Unfinished as stop:
            self.begin(stop)
        finally:
            task.cancel()
            ending.cancel()
            await asyncio.gather(task, ending, return_exceptions=True)

    async def sleep(self, seconds: float) -> None:
        """Sleep, or raise the reason as soon as the run is ending."""
        try:
            async with asyncio.timeout(seconds):
                await self._begun.wait()
        except TimeoutError:
            return
        if reason := self():
            raise reason

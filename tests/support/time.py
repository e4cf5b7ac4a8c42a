"""Time that passes only when nothing else can happen."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class HandClock:
    """A clock that a test moves by hand."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds


class _JumpingSelector(selectors.DefaultSelector):
    """Jumps to the next timer when no file is ready, unless something real is still under way."""

    loop: JumpingLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self.loop.busy():
            return super().select(0.002 if timeout is not None else None)
        self.loop.offset += timeout
        return []


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps ahead whenever every task waits for it: hours of waiting take milliseconds.

    While `busy()` is true (a thread or a process is at work) time stands still and the loop waits for real.
    """

    def __init__(self, busy: Callable[[], bool] = lambda: False) -> None:
        selector = _JumpingSelector()
        selector.loop = self
        self.busy = busy
        self.offset = 0.0
        super().__init__(selector)

    def time(self) -> float:
        return self.offset


def run_jumping(main: Coroutine[Any, Any, T], busy: Callable[[], bool] = lambda: False) -> T:
    """Run `main` on a loop whose clock jumps."""
    with asyncio.Runner(loop_factory=lambda: JumpingLoop(busy)) as runner:
        return runner.run(main)

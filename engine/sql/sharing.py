"""Equal statements are executed once: those under way and the most recent ones share their outcome."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from .outcome import Execution


@dataclass(slots=True)
class _Entry:
    first: asyncio.Future[Execution]
    second: asyncio.Future[Execution] | None = None


class Shared:
    """Executions by key, at most `size`, those asked for last.

    A doubtful execution answers only who asked for it first. Everybody else waits for a second one, which stands.
    """

    def __init__(self, size: int) -> None:
        self.shared = 0
        self._size = size
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()

    async def execute(self, key: bytes, run: Callable[[], asyncio.Future[Execution]]) -> Execution:
        """Return the execution under `key`, calling `run` for it only when there is none to share.

        What `run` raises goes to everyone who waits for it and is not kept.
        """
        entry = self._entries.get(key)
        if entry is None:
            return await asyncio.shield(self._enter(key, run()))
        self._entries.move_to_end(key)
        execution = await asyncio.shield(entry.first)
        if not execution.doubtful:
            self.shared += 1
            return execution
        if entry.second is None:
            entry.second = run()
            entry.second.add_done_callback(lambda future: self._drop_failed(key, future))
        else:
            self.shared += 1
        return await asyncio.shield(entry.second)

    def _enter(self, key: bytes, first: asyncio.Future[Execution]) -> asyncio.Future[Execution]:
        self._entries[key] = _Entry(first)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)
        first.add_done_callback(lambda future: self._drop_failed(key, future))
        return first

    def _drop_failed(self, key: bytes, future: asyncio.Future[Execution]) -> None:
        if future.cancelled() or future.exception() is not None:
            self._entries.pop(key, None)

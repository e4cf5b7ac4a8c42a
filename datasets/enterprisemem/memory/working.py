"""Working memory: the last few turns of the session itself (paper §5.5, §5.6), in this process."""

from __future__ import annotations

from typing import Protocol

from .episode import Episode


class WorkingMemory(Protocol):
    """The turns of running sessions. `scope` names one session in one condition-run; scopes share nothing."""

    async def remember(self, scope: str, episode: Episode) -> None:
        """Keep a turn. Keeping it twice is keeping it once."""
        ...

    async def recent(self, scope: str, turn: int, window: int) -> tuple[Episode, ...]:
        """Return the `window` turns before `turn` (from 1), oldest first; fewer at the session's beginning.

        Stops the dialogue (Unfinished, infrastructure) when one of them cannot be had: never a shorter memory.
        """
        ...

    async def clear(self, scope: str) -> None:
        """Forget the session: every session starts with an empty working memory."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


def window_before(turn: int, window: int) -> range:
    """Return the turn numbers that a window shows before `turn`."""
    return range(max(1, turn - window), turn)


class InProcessWorking:
    """A dictionary; what it holds is as old as the process, so nothing can be stale."""

    def __init__(self) -> None:
        self._turns: dict[str, dict[int, Episode]] = {}

    async def remember(self, scope: str, episode: Episode) -> None:
        """See WorkingMemory."""
        self._turns.setdefault(scope, {})[episode.turn] = episode

    async def recent(self, scope: str, turn: int, window: int) -> tuple[Episode, ...]:
        """See WorkingMemory. A missing turn is a KeyError: it was never remembered."""
        numbers = window_before(turn, window)
        return tuple(self._turns[scope][number] for number in numbers)

    async def clear(self, scope: str) -> None:
        """See WorkingMemory."""
        self._turns.pop(scope, None)

    async def aclose(self) -> None:
        """Nothing to let go of."""

"""Who has been heard of: a shard that hangs, or whose machine is lost, says nothing of it itself."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Final

SILENCE: Final = 60.0
"""Seconds after its last visit when it is said of a shard that it is silent. A healthy one visits once a second."""


class Roll:
    """When shards were heard of last, by the clock of whoever keeps it; all times in seconds."""

    def __init__(self) -> None:
        self._heard: dict[int, float] = {}
        self._listening: float | None = None

    def deaf(self) -> None:
        """Redis itself does not answer: whoever is silent meanwhile may well be there."""
        self._listening = None

    def called(self, now: float, ago: Iterable[tuple[str, float]], at_work: Container[int]) -> list[int]:
        """Take in how long ago shards visited; return those `at_work` that are silent.

        One that was not heard of since the roll began (an earlier run's visit, say) is still starting. A Redis that
        forgot names nobody, and changes nothing.
        """
        if self._listening is None:
            self._listening = now
        for number, seconds in ago:
            if now - seconds >= self._listening:
                self._heard[int(number)] = now - seconds
        quiet = {number: now - max(last, self._listening) for number, last in self._heard.items()}
        return sorted(number for number, seconds in quiet.items() if seconds > SILENCE and number in at_work)


def silent(numbers: Iterable[int]) -> str:
    """Return in words that shards are silent; nothing where none is."""
    named = ", ".join(f"shard-{number}" for number in numbers)
    return named and f"{named}: not heard of for {SILENCE:.0f} s; its process hangs, or its machine is lost"

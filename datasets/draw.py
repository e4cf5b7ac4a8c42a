"""Chance that is the same on every machine and every Python.

`random.Random.random()` is the only method whose sequence Python promises to keep for a seed, so everything here
rests on it alone; and the seed is a hash of text, never `hash()`.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of draws named by its seeds: equal seeds give equal draws, different ones independent streams."""

    __slots__ = ("random",)

    def __init__(self, *seeds: str | int) -> None:
        digest = hashlib.sha256("\x1f".join(map(str, seeds)).encode()).digest()
        self.random = random.Random(int.from_bytes(digest[:8], "big")).random
        """The next float in [0, 1)."""

    def below(self, bound: int) -> int:
        """Return an integer in [0, bound)."""
        return int(self.random() * bound)

    def between(self, low: int, high: int) -> int:
        """Return an integer in [low, high], both ends included."""
        return low + int(self.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """Return True with `probability`."""
        return self.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        """Return one of `items`, each as likely."""
        return items[int(self.random() * len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return `items` in a drawn order (Fisher-Yates)."""
        deck = list(items)
        for last in range(len(deck) - 1, 0, -1):
            chosen = self.below(last + 1)
            deck[last], deck[chosen] = deck[chosen], deck[last]
        return deck


def evenly(items: Sequence[T], cell: Callable[[T], tuple[str, ...]], count: int | None, *seeds: str | int) -> list[T]:
    """Draw `count` of `items`, as evenly over their cells as their numbers allow; all when there are fewer, or None.

    One item after another is drawn from every cell in turn, so that a small one is taken whole and the others share the
    rest. What is drawn stays in the order of `items`.
    """
    cells: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        cells[cell(item)].append(place)
    decks = [Draw(*seeds, *each).shuffled(cells[each]) for each in sorted(cells)]
    left, chosen = len(items) if count is None else min(count, len(items)), set[int]()
    while left:
        for deck in decks:
            if deck and left:
                chosen.add(deck.pop())
                left -= 1
    return [item for place, item in enumerate(items) if place in chosen]

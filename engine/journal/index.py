"""Where lines stand, in a few dozen bytes each: hashes and offsets are kept, keys and lines are not."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

from .codec import Fields
from .keys import Place, place_of


class Index:
    """From the place that a line fills to its offset.

    Two places may share a hash, so the line itself, read at the offset, says whose it is; of those that share
    one, all but the first are kept in full.
    """

    def __init__(self, read: Callable[[int], Fields]) -> None:
        self._read = read
        self._offsets: dict[int, int] = {}
        self._sharing: dict[Place, int] = {}

    def find(self, place: Place) -> tuple[int, Fields] | None:
        """Return the offset and the line that fills `place`, if one does."""
        offset = self._offsets.get(hash(place))
        if offset is None:
            return None
        line = self._read(offset)
        if place_of(line) == place:
            return offset, line
        offset = self._sharing.get(place)
        return None if offset is None else (offset, self._read(offset))

    def add(self, place: Place, offset: int) -> int:
        """Note that the line at `offset` fills `place`; return the offset of the line that does: another's if taken."""
        if self._offsets.setdefault(hash(place), offset) == offset:
            return offset
        found = self.find(place)
        if found is None:
            self._sharing[place] = offset
            return offset
        return found[0]


class Chains:
    """From a unit to the offsets of its lines: each entry points to the unit's one before."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self._offsets = array("q")
        self._previous = array("q")

    def add(self, unit: str, offset: int) -> None:
        """Note that the line at `offset` is the unit's newest."""
        digest = hash(unit)
        self._previous.append(self._last.get(digest, -1))
        self._last[digest] = len(self._offsets)
        self._offsets.append(offset)

    def offsets(self, unit: str) -> Iterator[int]:
        """Yield offsets, newest first: the unit's, and rarely those of one with the same hash."""
        entry = self._last.get(hash(unit), -1)
        while entry >= 0:
            yield self._offsets[entry]
            entry = self._previous[entry]

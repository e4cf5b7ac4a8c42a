"""A journal by dialogue, read without holding it: another process may be writing."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from .codec import Fields, decode, parse_head
from .keys import END, STEPS, Key
from .logfile import checked, whole_lines


class Lines:
    """A journal's replaying lines by unit. Only offsets stay in memory; use it as a context.

    The lines of `newer`, a file of the journal's form, take the place of the journal's at the same places.
    """

    def __init__(self, path: Path, newer: Path | None = None) -> None:
        self._path = path
        self._newer = Lines(newer) if newer else None
        self._offsets: dict[str, array[int]] = {}
        self._file = -1

    def __enter__(self) -> Self:
        for offset, raw in whole_lines(self._path):
            head = checked(self._path, offset, raw, parse_head)
            if head["k"] in STEPS or head["k"] in (END, "sent"):
                self._offsets.setdefault(head["u"], array("q")).extend((offset, len(raw)))
        self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        if self._newer:
            self._newer.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
        if self._newer:
            self._newer.__exit__()

    def units(self) -> Iterator[str]:
        """Yield the units that have lines, in the order of their first."""
        return iter(self._offsets)

    def of(self, unit: str) -> dict[Key | None, Fields]:
        """Return the unit's lines by their places; under None the line that ends it.

        An answer's line gets `m` from its `sent` line: the label of the model that was asked.
        """
        places = self._offsets.get(unit, array("q"))
        found: dict[Key | None, Fields] = {}
        asked: dict[Key, str] = {}
        for offset, size in zip(places[::2], places[1::2], strict=True):
            line = checked(self._path, offset, os.pread(self._file, size, offset), decode)
            key = None if line["k"] == END else Key(unit, line["b"], line["s"])
            if key and line["k"] == "sent":
                asked[key] = line["m"]
            else:
                found[key] = {**line, "m": asked.get(key, line["model"])} if key and line["k"] == "answer" else line
        return {**found, **self._newer.of(unit)} if self._newer else found


class LinesOfShards(Lines):
    """Those of several journals, of which none holds a dialogue of another's."""

    def __init__(self, shards: Sequence[Lines]) -> None:
        self._shards = shards
        self._homes: dict[str, Lines] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for shard in self._shards:
                stack.enter_context(shard)
                self._homes.update(dict.fromkeys(shard.units(), shard))
            self._opened = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def units(self) -> Iterator[str]:
        """See Lines: shard by shard."""
        return iter(self._homes)

    def of(self, unit: str) -> dict[Key | None, Fields]:
        """See Lines."""
        return self._homes[unit].of(unit) if unit in self._homes else {}

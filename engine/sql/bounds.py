"""How much one statement may cost, and the collector that holds a result to it while the rows stream by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from .comparison import TEXTS, Digester
from .outcome import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

DEADLINE = 30.0
GOLD_DEADLINE = 60.0
"""Seconds that a model's statement and a gold one may take, unless a run says otherwise."""

EXCERPT_ROWS = 20
EXCERPT_BYTES = 4_096
SHORTEST_CELL = 16
"""However many columns an excerpt has, this much of each cell is kept."""


class SqlLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one statement besides its deadline, and of the worker that runs it.

    Rows stream through a worker in constant memory, so `rows` and `bytes` bound work, not memory. `rows` lets the
    largest table of the papers' databases (BIRD's `trans`, 1,056,320 rows) still be a result.
    """

    rows: int = 1_200_000
    bytes: int = 256 * 2**20
    """Of the result: texts and blobs by their length, numbers and NULL as 8."""
    value: int = 10_000_000
    """Of one text or blob anywhere in a statement, in bytes. (Beyond it, SQLite's printf() and format() give NULL.)"""
    sql: int = 1_000_000
    """Of the statement's own text, in bytes."""
    memory: int = 512 * 2**20
    """What a worker may take beyond its idle footprint, in bytes of address space."""


class BoundHit(Exception):
    """The result is larger than it may be; `bound` is the outcome's status."""

    def __init__(self, bound: Literal["rows", "bytes"], message: str) -> None:
        super().__init__(message)
        self.bound: Literal["rows", "bytes"] = bound


class Collector:
    """Takes the rows of one result in turn: counts, digests, and keeps the first few."""

    def __init__(self, limits: SqlLimits) -> None:
        self._limits = limits
        self._digester = Digester()
        self._bytes = 0
        self._excerpt: list[tuple[Cell, ...]] = []
        self._room = EXCERPT_BYTES

    @property
    def rows(self) -> int:
        """How many rows were taken."""
        return self._digester.rows

    @property
    def excerpt(self) -> tuple[tuple[Cell, ...], ...]:
        """The first row and those after it that fit into 20 rows and 4 KB together.

        A text or blob above its column's share of the 4 KB is cut to that share.
        """
        return tuple(self._excerpt)

    def take(self, row: Sequence[Cell]) -> None:
        """Take the next row, or raise BoundHit when it is one too many."""
        if self.rows == self._limits.rows:
            raise BoundHit("rows", f"more than {self._limits.rows:,} rows")
        self._bytes += _size(row)
        if self._bytes > self._limits.bytes:
            raise BoundHit("bytes", f"more than {self._limits.bytes:,} bytes of rows")
        self._digester.add(row)
        if self._room > 0:
            self._show(row)

    def digests(self) -> dict[str, str]:
        """Return the digests of all rows so far, by comparison."""
        return self._digester.digests()

    def _show(self, row: Sequence[Cell]) -> None:
        share = max(SHORTEST_CELL, EXCERPT_BYTES // len(row))
        cut = tuple(cell[:share] if isinstance(cell, TEXTS) else cell for cell in row)
        self._room -= _size(cut)
        if self._room >= 0 or not self._excerpt:
            self._excerpt.append(cut)
        if len(self._excerpt) == EXCERPT_ROWS:
            self._room = 0


def _size(row: Sequence[Cell]) -> int:
    return sum(len(cell) if isinstance(cell, TEXTS) else 8 for cell in row)

"""The named comparisons of two query results, as digests that need no memory for the rows.

    strict     equal multisets of rows of printed values: 1, 1.0 and '1' differ (EnterpriseMem-Bench, §5.1: EX)
    multiset   equal multisets of rows: 1 = 1.0, exactly also for large integers, and NULL = NULL (TIDE-Bench: EX)
    bird       equal sets of rows, as BIRD's evaluation script has it: duplicates do not count
    ordered    equal sequences of rows; means something when the gold query's outermost SELECT has an ORDER BY

None has a tolerance. All fix the number and the order of the columns, by way of the rows: two empty results are equal
under each of them, as they are for the scripts of the benchmarks.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .outcome import Cell, Outcome

VERSION = 1
"""Part of every digest and cache key: raise it whenever an equal result could get another digest."""

COMPARISONS = ("strict", "multiset", "bird", "ordered")

TEXTS: Final = (str, bytes)

LONG = 4_096
"""Texts (in characters) and blobs (in bytes) above this enter a row by their hash, so that no row is ever printed
at several times its size."""


class Digester:
    """Takes the rows of one result in turn and yields one digest per comparison.

    Two results have equal digests exactly when the comparison holds (up to collisions of BLAKE2b). A multiset is the
    sum of its rows' 256-bit hashes beside their count, which needs no memory whatever the order of the rows. A set must
    know what it has seen: 16 bytes per distinct row, which the bound on rows keeps small.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._strict = self._multiset = self._bird = 0
        self._seen: set[bytes] = set()
        self._ordered = blake2b(digest_size=16)

    def add(self, row: Sequence[Cell]) -> None:
        """Take the next row."""
        printed, equal = _hashes(row)
        self.rows += 1
        self._strict += int.from_bytes(printed, "big")
        value = int.from_bytes(equal, "big")
        self._multiset += value
        self._ordered.update(equal)
        distinct = equal[:16]
        if distinct not in self._seen:
            self._seen.add(distinct)
            self._bird += value

    def digests(self) -> dict[str, str]:
        """Return the digest of all rows so far under each name of `COMPARISONS`: 32 hexadecimal digits each."""
        return {
            "strict": _seal("strict", self.rows, f"{self._strict:x}"),
            "multiset": _seal("multiset", self.rows, f"{self._multiset:x}"),
            "bird": _seal("bird", len(self._seen), f"{self._bird:x}"),
            "ordered": _seal("ordered", self.rows, self._ordered.hexdigest()),
        }


def compare(gold: Outcome, predicted: Outcome) -> dict[str, bool]:
    """Return which comparisons hold; none does unless both statements gave a result."""
    executed = gold.status == predicted.status == "ok"
    return {name: executed and gold.digests[name] == predicted.digests.get(name) for name in COMPARISONS}


def has_order_by(sql: str) -> bool:
    """Return whether the outermost query of `sql` sorts its rows: only then is `ordered` a fair question.

    An ORDER BY of the outermost query, also of a set operation, is the only one that stands outside all parentheses.
    """
    # Here and not above: the SQL workers import this module and must start in milliseconds.
    from sqlglot import TokenType, tokenize
    from sqlglot.errors import TokenError

    try:
        tokens = tokenize(sql, read="sqlite")
    except TokenError:
        return False
    depth = 0
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.token_type is TokenType.ORDER_BY:
            return True
    return False


class _Hashed:
    """Stands for a long text or blob in a printed row; no other value prints like it."""

    def __init__(self, cell: str | bytes) -> None:
        data = cell.encode("utf-8", "surrogatepass") if isinstance(cell, str) else cell
        self._printed = f"<{type(cell).__name__} {blake2b(data).hexdigest()}>"

    def __repr__(self) -> str:
        return self._printed


def _hashes(row: Sequence[Cell]) -> tuple[bytes, bytes]:
    """Return a row's hash as printed and its hash as `==` has it; they differ only where a float is a whole number."""
    long = whole = False
    for cell in row:
        if isinstance(cell, float):
            whole = whole or cell.is_integer()
        elif isinstance(cell, TEXTS) and len(cell) > LONG:
            long = True
    cells: Sequence[object] = row
    if long:
        cells = [_Hashed(cell) if isinstance(cell, TEXTS) and len(cell) > LONG else cell for cell in row]
    printed = _hash(cells)
    if not whole:
        return printed, printed
    return printed, _hash([int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells])


def _hash(cells: Sequence[object]) -> bytes:
    """Hash a row by its printed form, which no two different rows share."""
    return blake2b(repr(tuple(cells)).encode(), digest_size=32).digest()


def _seal(name: str, count: int, content: str) -> str:
    return blake2b(f"{VERSION}:{name}:{count}:{content}".encode(), digest_size=16).hexdigest()

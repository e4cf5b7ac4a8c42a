"""Chance without a state: every draw is a hash of what it is about, so that neither time nor order can change it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TypeVar

Kind = TypeVar("Kind", bound=str)


def digest(*parts: bytes, purpose: bytes, size: int = 16) -> bytes:
    """Return `size` bytes that depend on every part, on where one ends, and on `purpose` (at most 16 bytes)."""
    state = blake2b(digest_size=size, person=purpose)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def fraction(raw: bytes) -> float:
    """Return a number in [0, 1) from the first eight bytes of a digest."""
    return (int.from_bytes(raw[:8], "little") >> 11) / (1 << 53)


def seeded(raw: bytes) -> random.Random:
    """Return a generator seeded by a digest."""
    return random.Random(int.from_bytes(raw, "little"))


def ordered(rates: Mapping[Kind, float], order: Sequence[Kind]) -> dict[Kind, float]:
    """Return the rates in a fixed order: what a draw picks must not depend on how a file was written."""
    return {kind: rates[kind] for kind in order if kind in rates}


def pick(rates: Mapping[Kind, float], draw: float) -> Kind | None:
    """Return the kind whose share of [0, 1) holds `draw`, or None; the rates sum to at most 1.

    One draw for all kinds keeps them exclusive, and raising one rate moves only the kinds that stand after it.
    """
    for kind, rate in rates.items():
        if draw < rate:
            return kind
        draw -= rate
    return None

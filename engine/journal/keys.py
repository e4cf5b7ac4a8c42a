"""Which places lines fill, and which of them only once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from ...adapters.base import Json

Line: TypeAlias = dict[str, Json]
"""A line as it is written; read back, its values are of any type (`codec.Fields`)."""

Place: TypeAlias = tuple[Literal["step", "end"], str, str, int]


class Key(NamedTuple):
    """A place in a dialogue: the `seq`-th step of a branch of a unit."""

    unit: str
    branch: str = ""
    seq: int = 0


STEPS = frozenset({"answer", "sql", "record"})
"""The kinds that replay. They share one numbering: each step of a branch is one of them."""

END = "end"
"""The kind that closes a unit, once."""


def step(key: Key) -> Place:
    """Return the place of the step at `key`."""
    return ("step", key.unit, key.branch, key.seq)


def end(unit: str) -> Place:
    """Return the place of the unit's end."""
    return ("end", unit, "", 0)


def place_of(line: Mapping[str, Any]) -> Place | None:
    """Return the place that only this line may fill, or None: of an attempt or a limit many lines may speak."""
    if line["k"] in STEPS:
        return ("step", line["u"], line["b"], line["s"])
    return end(line["u"]) if line["k"] == END else None


def place(key: Key) -> Line:
    """Return a key as the fields that every keyed line carries."""
    return {"u": key.unit, "b": key.branch, "s": key.seq}


def key_of(line: Mapping[str, Any]) -> Key:
    """Return the key of a line."""
    return Key(line["u"], line["b"], line["s"])

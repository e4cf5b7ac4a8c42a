"""Model ids and the patterns that tables name them by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TypeVar

T = TypeVar("T")

_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")


def spellings(model: str) -> tuple[str, ...]:
    """Return an id as it is written, then its family: the id without a date at its end."""
    return tuple(dict.fromkeys((model, _DATED.sub("", model))))


def fitting(name: str, entries: Iterable[tuple[Iterable[str], T]]) -> list[tuple[int, T]]:
    """Return the entries with a pattern that `name` fits (`*` is any run of characters), with that pattern's length."""
    return [(len(pattern), entry) for patterns, entry in entries for pattern in patterns if fnmatchcase(name, pattern)]

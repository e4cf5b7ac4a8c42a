"""What a look-alike's module yields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

Row: TypeAlias = "tuple[None | int | float | str, ...]"
Tables: TypeAlias = "Iterator[tuple[str, Iterable[Row]]]"
"""Table name and its rows, as wide as the table; referenced tables come first."""

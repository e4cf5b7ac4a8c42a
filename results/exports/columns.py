"""Tables as values: which columns they have, what each means, and how a row's cell is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .dialogue import Dialogue
from .types import Type, clean

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """One column of a table whose rows are made of `T`."""

    name: str
    type: Type
    meaning: str
    value: Callable[[T], Any]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table(Generic[T]):
    """Rows of one kind: `rows` finds them in a dialogue."""

    key: str
    meaning: str
    columns: Sequence[Column[T]]
    rows: Callable[[Dialogue], Iterator[T]]

    def described(self) -> Iterator[str]:
        """Yield the lines of a Markdown table that says what every column is."""
        yield "| column | type | unit | meaning |"
        yield "|---|---|---|---|"
        for column in self.columns:
            yield f"| `{column.name}` | `{column.type}` | {column.unit} | {column.meaning} |"

    def cells(self, dialogue: Dialogue) -> Iterator[list[Any]]:
        """Yield the dialogue's rows, each cell ready to be written."""
        for row in self.rows(dialogue):
            yield [clean(column.value(row)) for column in self.columns]

"""The types of columns: few, and spelled as Arrow spells them. Every value may be null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

Scalar: TypeAlias = Literal["string", "int64", "double", "bool"]


@dataclass(frozen=True, slots=True)
class ListOf:
    """Values of one type, in order."""

    item: Type

    def __str__(self) -> str:
        return f"list<{self.item}>"


@dataclass(frozen=True, slots=True)
class Struct:
    """Named values. In Python a dict, which may lack some."""

    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return f"struct<{', '.join(f'{name}: {inner}' for name, inner in self.fields)}>"


Type: TypeAlias = "Scalar | ListOf | Struct"

STRINGS: Final = ListOf("string")
MESSAGES: Final = ListOf(Struct((("role", "string"), ("content", "string"))))


def writable(text: str) -> str:
    r"""Return `text` as UTF-8 can hold it: a lone surrogate becomes its escape, `\udcff`."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def clean(value: object) -> object:
    """Return a cell with every text in it writable; tuples become lists."""
    match value:
        case str():
            return writable(value)
        case list() | tuple():
            return [clean(item) for item in cast("Sequence[object]", value)]
        case dict():
            return {writable(str(name)): clean(item) for name, item in cast("Mapping[object, object]", value).items()}
        case _:
            return value

"""Tables as Parquet: one file per table, written in groups of rows, so that memory holds one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from .columns import Table
from .common import as_json
from .dialogue import Dialogue
from .export import Export
from .types import ListOf, Struct, Type

Arrow: TypeAlias = Any
"""Something of pyarrow's, which has no type hints."""

GROUP: Final = 16 << 20
"""Characters of text, about, after which a group of rows is written."""

ROWS: Final = 4096
"""Rows after which a group is written, however short."""


class ParquetFiles:
    """Writes every table of an export under a folder, where `places` names its file.

    The schema's metadata holds `turntide`: JSON with the title, the table's meaning and the marks in full. Equal rows
    give equal bytes with the same pyarrow.
    """

    def __init__(self, folder: Path, export: Export, marks: Mapping[str, str], places: str = "{}.parquet") -> None:
        self._files: list[_File] = []
        for table in export.tables:
            told = {"title": export.title, "table": table.meaning, "marks": dict(marks)}
            self._files.append(_File(folder / places.format(table.key), table, told))

    def add(self, dialogue: Dialogue) -> None:
        """Write the dialogue's rows."""
        for file in self._files:
            file.add(dialogue)

    def close(self) -> None:
        """Write what waits, and finish every file."""
        for file in self._files:
            file.close()


class _File:
    def __init__(self, path: Path, table: Table[Any], told: Mapping[str, object]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._table = table
        self._schema: Arrow = arrow_schema(table).with_metadata({"turntide": as_json(told)})
        parquet: Arrow = import_module("pyarrow.parquet")
        self._writer: Arrow = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Sequence[object]] = []
        self._size = 0

    def add(self, dialogue: Dialogue) -> None:
        for cells in self._table.cells(dialogue):
            self._rows.append(cells)
            self._size += sum(map(_weight, cells))
        if self._size >= GROUP or len(self._rows) >= ROWS:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            pa: Arrow = import_module("pyarrow")
            columns = zip(zip(*self._rows, strict=True), self._schema, strict=True)
            arrays = [pa.array(column, type=field.type) for column, field in columns]
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self._rows, self._size = [], 0


def _weight(cell: object) -> int:
    """Return about how many characters a cell holds."""
    match cell:
        case str():
            return len(cell)
        case list():
            return sum(map(_weight, cast("list[object]", cell)))
        case dict():
            return sum(map(_weight, cast("dict[str, object]", cell).values()))
        case _:
            return 8


def arrow_schema(table: Table[Any]) -> Arrow:
    """Return a table's `pyarrow.Schema`; each field's metadata says what the column means."""
    pa: Arrow = import_module("pyarrow")
    return pa.schema(
        [
            pa.field(column.name, arrow_type(column.type), metadata={"meaning": column.meaning, "unit": column.unit})
            for column in table.columns
        ]
    )


def arrow_type(kind: Type) -> Arrow:
    """Return a type as a `pyarrow.DataType`."""
    pa: Arrow = import_module("pyarrow")
    match kind:
        case ListOf(item):
            return pa.list_(arrow_type(item))
        case Struct(fields):
            return pa.struct([(name, arrow_type(inner)) for name, inner in fields])
        case _:
            return pa.type_for_alias(kind)

"""The tables and columns of a database, prepared once for the reading of many queries."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Schema:
    """Column names by table name, all lower case: SQLite does not distinguish the case of names."""

    tables: Mapping[str, Collection[str]]

    def __hash__(self) -> int:
        return hash(tuple(self.tables))

    @classmethod
    def of(cls, tables: Mapping[str, Iterable[str]]) -> Schema:
        """Return the schema with these tables and their columns, in any case of letters."""
        return cls({table.lower(): dict.fromkeys(name.lower() for name in names) for table, names in tables.items()})

    def columns(self, table: str) -> Collection[str] | None:
        """Return the columns of `table` (lower case) in their order, or None when the schema lacks the table."""
        return self.tables.get(table)


def schema_of(path: Path) -> Schema:
    """Return the schema of the SQLite database at `path`; raises what `tables_of` does."""
    return Schema.of(tables_of(path))


def tables_of(path: Path) -> dict[str, list[str]]:
    """Return the tables and views of the SQLite database at `path` with their columns, spelled as it has them.

    Raises FileNotFoundError when there is none, and sqlite3.DatabaseError when the file is no database.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no database at {path}")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        return {table: _column_names(connection, table) for (table,) in names}


def _column_names(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def names_in(tables: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return the names of all tables and of all columns."""
    return frozenset((*tables, *(column for columns in tables.values() for column in columns)))


def schema_of_bird(entry: Mapping[str, Any]) -> Schema:
    """Return the schema that one entry of BIRD's (or Spider's) `tables.json` describes.

    `table_names_original` lists the tables and `column_names_original` pairs of (table index, column name), whose
    index -1 stands for `*`.
    """
    columns: dict[int, list[str]] = {index: [] for index in range(len(entry["table_names_original"]))}
    for table, name in entry["column_names_original"]:
        if table >= 0:
            columns[table].append(name)
    return Schema.of({name: columns[index] for index, name in enumerate(entry["table_names_original"])})

"""Builds a look-alike database from a fixed seed, in one transaction, into the cache."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from importlib import resources
from pathlib import Path

from ...engine.system.cache import built_once, cache_folder
from . import financial, northwind, sec_edgar, superhero
from .tables import Row, Tables

VERSION = 1
"""Raise it whenever a single value of a single row changes; a test holds the contents against their digests."""

APPLICATION_ID = 0x7475726E
"""`turn` in ASCII, in the file's header: marks a look-alike whatever its file is called."""

_ROWS: Mapping[str, Callable[[], Tables]] = {
    "northwind": northwind.rows,
    "sec_edgar": sec_edgar.rows,
    "financial": financial.rows,
    "superhero": superhero.rows,
}
NAMES = tuple(_ROWS)


def place(name: str, cache: Path | None = None) -> Path:
    """Return where the look-alike of `name` stands in the cache, built or not."""
    return (cache or cache_folder()) / f"synthetic-v{VERSION}" / f"{name}-synthetic.sqlite"


def ensure(name: str, cache: Path | None = None) -> Path:
    """Return the look-alike of `name`, building it when it is not in the cache yet (0.2 to 4 s)."""
    return built_once(place(name, cache), lambda path: build(name, path))


def build(name: str, path: Path) -> None:
    """Write the look-alike of `name` to `path`, which must not exist. Its rows depend on `VERSION` alone."""
    schema = resources.files(__package__ or "").joinpath(f"{name}.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(schema)
        connection.execute("BEGIN")
        for table, rows in _ROWS[name]():
            _insert(connection, table, rows)
        connection.execute("COMMIT")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("ANALYZE")  # without it Northwind's yearly sums scan all order details: 70 ms against 10


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    """Insert `rows`, which are as wide as the table."""
    width = len(connection.execute(f'PRAGMA table_info("{table}")').fetchall())
    connection.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * width)})', rows)

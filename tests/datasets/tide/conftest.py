"""The small database that the cases of `tests/fixtures/tide` speak of."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from turntide.datasets.tide.schema import Schema, schema_of

from ...support.cases import FIXTURES


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tide") / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for script in ("schema.sql", "rows.sql"):
            connection.executescript((FIXTURES / "tide" / script).read_text(encoding="utf-8"))
    return path


@pytest.fixture(scope="session")
def schema(database: Path) -> Schema:
    return schema_of(database)

"""The small database that the cases of `tests/fixtures/tide` speak of, and the real ones where they are present."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
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


@pytest.fixture(scope="session")
def real(shared_data: Path) -> Mapping[str, Path]:
    """The real databases under the templates; Northwind, which is not among them, has to be a look-alike."""
    return {
        "financial": shared_data / "bird" / "financial.sqlite",
        "superhero": shared_data / "bird" / "superhero.sqlite",
        "sec_edgar": shared_data / "enterprisemem" / "sec_edgar.db",
    }

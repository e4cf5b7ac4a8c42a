from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets import synthetic
from turntide.datasets.databases import (
    SYNTHETIC,
    SourceDatabase,
    is_synthetic,
    locate,
    open_readonly,
    placed,
    schema_text,
)
from turntide.engine.system.digests import file_digest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in ("northwind.sqlite", "sec_edgar.sqlite", "financial.sqlite"):
        with closing(sqlite3.connect(tmp_path / file)) as connection:
            connection.executescript(
                "CREATE TABLE zebra (a); CREATE TABLE [an ant] (b INTEGER PRIMARY KEY AUTOINCREMENT);"
                "CREATE VIEW bee AS SELECT a FROM zebra; CREATE INDEX cow ON zebra (a);"
            )
    return tmp_path


def test_databases_are_found_by_name_in_a_folder(folder: Path) -> None:
    found = locate(["northwind", "sec_edgar"], folder)
    assert found["sec_edgar"].path == folder / "sec_edgar.sqlite"
    assert not found["northwind"].synthetic


def test_a_database_named_by_its_file_goes_before_the_folder(folder: Path) -> None:
    other = folder / "other.db"
    shutil.copy(folder / "northwind.sqlite", other)
    assert locate(["northwind"], folder, {"northwind": other})["northwind"].path == other


def test_without_any_place_the_look_alikes_are_used(look_alikes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNTIDE_CACHE", str(look_alikes))
    found = locate(["financial"])["financial"]
    assert found.synthetic
    assert found.path.name == "financial-synthetic.sqlite"


def test_a_look_alike_is_known_for_one_under_any_name(look_alikes: Path, tmp_path: Path) -> None:
    copy = tmp_path / "superhero.sqlite"
    shutil.copy(next(look_alikes.rglob("superhero-synthetic.sqlite")), copy)
    assert locate(["superhero"], tmp_path)["superhero"].synthetic


def test_a_known_database_may_be_named_though_it_is_not_needed(folder: Path) -> None:
    names = ["cards", "heroes"]
    named = dict.fromkeys(names, folder / "northwind.sqlite")
    assert set(locate(["cards"], None, named, known=names)) == {"cards"}
    with pytest.raises(ConfigurationError, match="unknown database 'heroes'; the known ones are cards, northwind, "):
        locate(["cards"], None, named)


def test_real_and_synthetic_are_never_mixed_silently(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"financial.*--database financial=PATH"):
        locate(["northwind", "financial"], overrides={"northwind": folder / "northwind.sqlite"})


def test_a_missing_database_is_named_with_the_files_looked_for(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"superhero: no superhero\.sqlite in .*--database superhero=PATH"):
        locate(["superhero"], folder)
    with pytest.raises(ConfigurationError, match="does not exist"):
        locate(["superhero"], folder / "nowhere")
    with pytest.raises(ConfigurationError, match="there is no file"):
        locate(["superhero"], None, {"superhero": folder / "nothing"})
    with pytest.raises(ConfigurationError, match=r"unknown database 'sales'.*northwind"):
        locate(["northwind"], folder, {"sales": folder / "northwind.sqlite"})


def test_what_is_no_sqlite_database_is_refused(folder: Path) -> None:
    whole = (folder / "northwind.sqlite").read_bytes()
    (folder / "northwind.sqlite").write_text("CREATE TABLE")
    with pytest.raises(ConfigurationError, match="is not a SQLite database"):
        locate(["northwind"], folder)
    (folder / "northwind.sqlite").write_bytes(whole[:-4096])
    with pytest.raises(ConfigurationError, match="cut short"):
        locate(["northwind"], folder)


def test_a_database_with_a_write_ahead_log_beside_it_is_refused(folder: Path) -> None:
    (folder / "northwind.sqlite-wal").write_bytes(b"frames")
    with pytest.raises(ConfigurationError, match=r"northwind\.sqlite-wal lies beside it"):
        locate(["northwind"], folder)


def test_the_schema_is_tables_and_views_by_type_and_name(folder: Path) -> None:
    assert schema_text(folder / "northwind.sqlite") == (
        "CREATE TABLE [an ant] (b INTEGER PRIMARY KEY AUTOINCREMENT);\n\n"
        "CREATE TABLE zebra (a);\n\n"
        "CREATE VIEW bee AS SELECT a FROM zebra;"
    )


def test_the_hash_is_of_the_files_bytes(folder: Path) -> None:
    path = folder / "northwind.sqlite"
    assert file_digest(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_nothing_can_be_written_through_a_read_only_connection(folder: Path) -> None:
    with closing(open_readonly(folder / "northwind.sqlite")) as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("INSERT INTO zebra VALUES (1)")
    assert not is_synthetic(folder / "northwind.sqlite")


def test_the_look_alikes_are_taken_by_their_name_and_never_beside_a_file() -> None:
    assert placed(["superhero"], SYNTHETIC, {}) == {
        "superhero": SourceDatabase("superhero", synthetic.ensure("superhero"), synthetic=True)
    }
    with pytest.raises(ConfigurationError, match="--data synthetic stands for all look-alikes"):
        placed(["superhero"], SYNTHETIC, {"superhero": "superhero.sqlite"})
    with pytest.raises(ConfigurationError, match="has no look-alike"):
        placed(["concert_singer"], SYNTHETIC, {})

"""What may be taken for a database."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.engine.sql.databases import refuse_unclean
from turntide.engine.system.digests import file_digest


def test_a_clean_database_is_taken_and_hashed_by_content(database: Path) -> None:
    refuse_unclean(database)
    assert file_digest(database) == hashlib.sha256(database.read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_a_database_with_a_journal_beside_it_is_refused(suffix: str, database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(database.read_bytes())
    copy.with_name(copy.name + suffix).touch()
    with pytest.raises(ConfigurationError, match=suffix):
        refuse_unclean(copy)


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("SQLite format 2")
    for path, why in ((other, "not a SQLite database"), (tmp_path / "none", "no such"), (tmp_path, "no such")):
        with pytest.raises(ConfigurationError, match=why):
            refuse_unclean(path)

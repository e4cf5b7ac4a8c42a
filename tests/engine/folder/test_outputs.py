"""Output goes beside evidence and inputs, never over them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.engine.folder.outputs import KEPT, require_output_file, require_output_folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "scorings").mkdir(parents=True)
    for name in ("manifest.json", "journal.jsonl", "scorings/0001.jsonl"):
        (folder / name).write_text("evidence")
    return folder


@pytest.mark.parametrize("name", [*KEPT, "scorings/0001.jsonl", "scorings/0002.jsonl", "Journal.jsonl"])
def test_nothing_that_a_run_keeps_is_taken_for_output_be_it_there_or_not(run: Path, name: str) -> None:
    for require in (require_output_file, require_output_folder):
        with pytest.raises(ConfigurationError, match=r"belongs to what the run in .* keeps.* Choose another folder"):
            require(run / name)


def test_the_same_names_are_free_where_no_run_is(tmp_path: Path) -> None:
    require_output_file(tmp_path / "summary.json")
    require_output_folder(tmp_path / "scorings")


def test_a_report_beside_a_runs_files_may_give_way_to_a_newer_one(run: Path) -> None:
    (run / "report").mkdir()
    (run / "report" / "report.html").write_text("older")
    require_output_file(run / "report" / "report.html")
    require_output_folder(run / "report")
    require_output_folder(run)


def test_a_link_to_evidence_is_evidence(run: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").symlink_to(run / "journal.jsonl")
    (tmp_path / "link").symlink_to(run)
    for path in (tmp_path / "page.html", tmp_path / "link" / "manifest.json"):
        with pytest.raises(ConfigurationError, match="keeps"):
            require_output_file(path)


def test_what_is_read_is_not_written_over_by_whatever_name(tmp_path: Path) -> None:
    sessions = tmp_path / "sessions.json"
    sessions.write_text("[]")
    os.link(sessions, tmp_path / "same.json")
    for path in (sessions, tmp_path / "same.json"):
        with pytest.raises(ConfigurationError, match="is what is read here"):
            require_output_file(path, [tmp_path / "none", Path("x" * 5000), Path("\0"), sessions])


def test_no_database_is_written_over(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "data.json") as database:
        database.execute("CREATE TABLE t (a)")
    database.close()
    with pytest.raises(ConfigurationError, match="is a database"):
        require_output_file(tmp_path / "data.json")


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="is a folder: name a file"):
        require_output_file(tmp_path)
    with pytest.raises(ConfigurationError, match="no plain file: name a file"):
        require_output_file(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="is a file: name a folder"):
        require_output_folder(tmp_path / "file")

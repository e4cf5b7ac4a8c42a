from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from turntide.engine.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one small database and a session file of one turn over it."""
    with closing(sqlite3.connect(tmp_path / "financial.sqlite")) as connection:
        connection.execute("CREATE TABLE loan (loan_id)")
        connection.execute("INSERT INTO loan VALUES (7)")
        connection.commit()
    write(tmp_path, "SELECT loan_id FROM loan")
    return tmp_path


def test_a_plugin_that_is_broken_is_listed_and_harms_nothing_else(tmp_path: Path) -> None:
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[turntide.benchmarks]\ntheirs = theirs_that_is_gone:benchmark\n")
    listed = subprocess.run(
        [sys.executable, "-m", "turntide.engine.cli", "data", "list", "--json"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, check=True,
    )  # fmt: skip
    found = {(each["kind"], each["name"]): each.get("problem", "") for each in json.loads(listed.stdout)}
    assert found["benchmarks", "theirs"].startswith("theirs_that_is_gone:benchmark is broken: ModuleNotFoundError")
    assert [kind for kind, _ in found if kind not in ("database", "benchmark")] == ["benchmarks"]


def write(folder: Path, gold: str) -> None:
    turn: dict[str, Any] = {
        "turn_number": 1,
        "question": "Which loans are there?",
        "ground_truth_sql": gold,
        "requires_prior_context": False,
        "memory_benefit_expected": False,
        "state_updates": {},
    }
    session = {"session_id": "BIRD-1-001", "source": "bird", "tier": 1, "turns": [turn]}
    (folder / "sessions.json").write_text(json.dumps([session]))


def check(folder: Path, *more: str) -> int:
    return main(["data", "check", "enterprisemem", "--sessions", str(folder / "sessions.json"), *more])


def test_check_reports_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(folder, "--data", str(folder), "--json") == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (report["turns"], report["gold_ok"], report["gold_failed"]) == (1, 1, [])
    assert report["databases"]["financial"]["synthetic"] is False
    assert report["quirks"]["unknown_question"] == ["BIRD-1-001:1"]


def test_check_reports_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(folder, "--database", f"financial={folder / 'financial.sqlite'}") == 0
    text = capsys.readouterr().out
    assert "gold: 1 return rows, 0 are empty, 0 fail" in text
    assert "financial: real" in text


def test_a_gold_that_fails_ends_with_code_two_and_names_the_turn(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "SELECT loan_id FROM loans")
    assert check(folder, "--data", str(folder)) == 2
    assert "1 gold queries fail, the first at BIRD-1-001:1: no such table: loans." in capsys.readouterr().err


def test_missing_data_ends_with_code_two_and_the_remedy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "financial.sqlite").unlink()
    assert check(folder, "--data", str(folder)) == 2
    assert "put it there or name the file with --database financial=PATH" in capsys.readouterr().err
    (folder / "sessions.json").write_text("")
    assert check(folder, "--data", str(folder)) == 2
    assert "is empty" in capsys.readouterr().err


def test_the_embedded_sessions_are_not_checked_on_other_databases(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "check", "enterprisemem", "--data", str(folder)]) == 2
    assert "name yours with --sessions FILE" in capsys.readouterr().err


def test_list_says_what_a_folder_holds_and_what_not(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNTIDE_CACHE", str(folder / "cache"))
    assert main(["data", "list", "--data", str(folder), "--json"]) == 0
    entries = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert entries["financial"]["synthetic"] is False
    assert len(entries["financial"]["sha256"]) == 64
    assert "no northwind.sqlite or northwind.db" in entries["northwind"]["problem"]
    assert main(["data", "list"]) == 0
    assert "not built yet" in capsys.readouterr().out
    assert not (folder / "cache").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--data", "."], "for which benchmark? Say `turntide data build enterprisemem|tide ...`"),
        (["enterprisemem", "--data", "."], "need a place: --out FILE"),
        (["enterprisemem", "--seed", "3"], "need a place: --out FILE"),
        (["enterprisemem", "--out", "x.json", "--data", "nowhere"], "the data folder nowhere does not exist"),
    ],
)
def test_build_says_what_it_lacks(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "build", *words]) == 2
    assert message in capsys.readouterr().err


def test_build_refuses_databases_of_another_schema(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("northwind", "sec_edgar", "financial")
    places = [word for name in names for word in ("--database", f"{name}={folder / 'financial.sqlite'}")]
    assert main(["data", "build", "enterprisemem", "--out", str(folder / "out.json"), *places]) == 2
    assert "database northwind does not have the schema of northwind: no such table" in capsys.readouterr().err
    assert not (folder / "out.json").exists()

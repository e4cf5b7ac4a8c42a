"""`turntide export` as a command: what it refuses, and what it leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from turntide.engine.cli import export, main

from ...support.sweeps import Sweep, Talk, write

SWEEP = Sweep(talks=[Talk(name="NW-1")])


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["export", *words]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return error


def test_a_place_that_holds_something_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, out = write(tmp_path / "run", SWEEP), tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("kept")
    assert "is there already" in refused(capsys, str(run), "--to", "csv", "--out", str(out))
    assert [path.name for path in out.iterdir()] == ["mine"]
    assert "is there already" in refused(capsys, str(run), "--to", "otel", "--out", str(out / "mine"))


def test_an_empty_folder_is_filled_and_a_missing_one_is_made(tmp_path: Path) -> None:
    run = write(tmp_path / "run", SWEEP)
    (tmp_path / "empty").mkdir()
    for out in (tmp_path / "empty", tmp_path / "new" / "deep"):
        assert main(["export", str(run), "--to", "csv", "--out", str(out), "--no-prompts"]) == 0
        assert sorted(path.name for path in out.iterdir()) == ["dialogues.csv", "turns.csv"]


def test_a_failed_export_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(tmp_path / "run", SWEEP)
    journal = run / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"SELECT 1", b"SELECT 2", 1))
    assert "checksum" in refused(capsys, str(run), "--to", "csv", "--out", str(tmp_path / "out"), "--no-prompts")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_files_are_not_written_to_a_url(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(tmp_path / "run", SWEEP)
    assert "not a URL" in refused(capsys, str(run), "--to", "csv", "--out", "http://localhost:1/")


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "holds no manifest.json" in refused(capsys, str(tmp_path), "--to", "csv", "--out", str(tmp_path / "out"))


@pytest.mark.parametrize(("to", "extra"), [("parquet", "export"), ("huggingface", "export"), ("otel", "otel")])
def test_a_package_that_is_missing_is_named_with_its_extra(
    to: str, extra: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(export, "import_module", absent)
    run = write(tmp_path / "run", SWEEP)
    assert f"pip install 'turntide[{extra}]'" in refused(capsys, str(run), "--to", to, "--out", str(tmp_path / "out"))


def test_several_runs_are_exported_as_one_sweep(tmp_path: Path) -> None:
    runs = [write(tmp_path / name, Sweep(talks=[Talk(name="NW-1")], models=(f"sim/{name}",))) for name in "ab"]
    out = tmp_path / "out"
    assert main(["export", *map(str, runs), "--to", "csv", "--out", str(out), "--no-prompts"]) == 0
    assert len((out / "dialogues.csv").read_text().splitlines()) == 1 + 2 * 2

"""A run that is cut into shards, read as one: whatever is said of its results has the bytes of the uncut run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from turntide.engine.cli import main, report_files
from turntide.engine.folder.parts import began, ended
from turntide.engine.journal import Journal
from turntide.engine.shards.folder import open_whole, shard_folder

from ..support.sweeps import Sweep, Talk, write

SWEEP = Sweep(
    talks=[Talk(name=f"NW-{number}", turns=turns) for number, turns in enumerate((1, 4, 9, 1, 4, 9))],
    told=lambda model, condition, talk, turn: {"category": "correct" if len(talk.name) + turn & 2 else "wrong_result"},
)
SHARDS = 3


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the same run twice: whole, and its dialogues dealt out to shards, one of which was killed in between."""
    monkeypatch.chdir(tmp_path)
    write(Path("whole"), SWEEP)
    manifest = SWEEP.manifest()
    open_whole(Path("cut"), {**manifest.identity, "shards": SHARDS}, manifest.settings, SHARDS)
    units = list(SWEEP.units())
    for index in range(SHARDS):
        own = units[index::SHARDS]
        with Journal.open(shard_folder(Path("cut"), index) / "journal.jsonl") as journal:
            journal.append(began({"sim/one": len(own)}))
            for unit in reversed(own):
                for line in SWEEP.lines(unit):
                    journal.append(line)
            if index:
                journal.append(ended("complete", []))


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize("words", [["--format", "text"], ["--format", "json"], ["--format", "latex"]], ids=" ".join)
def test_a_report_of_shards_is_that_of_the_uncut_run(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    for folder in ("whole", "cut"):
        assert main(["report", folder, *words]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


@pytest.mark.usefixtures("folders")
def test_pages_and_exports_of_shards_are_those_of_the_uncut_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(name: str) -> None:
        """Find no matplotlib: its figures are drawn from the tables, which are the same, and take long."""

    monkeypatch.setattr(report_files, "find_spec", nowhere)
    for folder in ("whole", "cut"):
        assert main(["report", folder, "--html", f"{folder}.html"]) == 0
        assert main(["export", folder, "--to", "csv", "--no-prompts", "--out", f"{folder}-csv"]) == 0
    assert Path("whole.html").read_bytes() == Path("cut.html").read_bytes()
    for file in Path("whole-csv").iterdir():
        assert file.read_bytes() == (Path("cut-csv") / file.name).read_bytes()
    assert main(["compare", "whole", "cut"]) == 0
    assert "+0.0" in capsys.readouterr().out


@pytest.mark.usefixtures("folders")
def test_operations_and_status_are_told_by_shard_and_a_rescoring_is_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "cut", "--operations"]) == 0
    operations = capsys.readouterr().out
    assert all(f"cut/shard-{index}" in operations for index in range(SHARDS))
    assert main(["status", "cut"]) == 0
    said = capsys.readouterr().out
    assert f"complete: {len(list(SWEEP.units()))} of {len(list(SWEEP.units()))} dialogues in cut" in said
    assert all(f"shard-{index}" in said for index in range(SHARDS))
    assert main(["rescore", "cut"]) == 2
    assert "score each of them (cut/shard-0" in capsys.readouterr().err

"""No command reads or goes on with a manifest that was edited, or a journal that is gone or another run's."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from turntide.engine.cli import main
from turntide.engine.folder.manifest import Manifest

from tests.support.sweeps import Sweep, Talk, write

SWEEP = Sweep(talks=[Talk(name="NW-1"), Talk(name="NW-2", turns=4)], models=("sim/one", "sim/two"))
COMMANDS = ["resume", "status", "report", "compare", "rescore", "export"]

every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "run", SWEEP)


def refused(capsys: pytest.CaptureFixture[str], command: str, folder: Path) -> str:
    more = ["--to", "csv", "--out", str(folder / "out")] if command == "export" else []
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main([command, str(folder), *more]) == 2
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("turntide: ")
    return err


@every_command
def test_another_runs_journal_is_refused(
    run: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    held = Manifest.load(run)
    other = write(tmp_path / "other", replace(SWEEP, models=("sim/one",)))
    replace(held, run="1" * 16).save(other)
    assert f"{other / 'journal.jsonl'} is not the journal of the run" in refused(capsys, command, other)


EDITS: list[Callable[[dict[str, Any]], object]] = [
    lambda m: m["identity"]["models"][0].update(label="sim/best"),
    lambda m: m["identity"]["experiment"]["plan"].update(conditions=["A"]),
    lambda m: m["identity"].update(seed=1),
    lambda m: m["identity"].update(limit=1),
    lambda m: m["settings"]["spec"]["settings"].update(max_cost="100"),
    lambda m: m.update(run="1" * 16),
    lambda m: m.pop("sha256"),
]


@every_command
@pytest.mark.parametrize("edit", EDITS, ids=["model", "condition", "seed", "limit", "cap", "run", "sum"])
def test_a_manifest_that_was_edited_is_refused(
    run: Path, command: str, edit: Callable[[dict[str, Any]], object], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    edit(manifest)
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    assert "manifest.json was changed after the run wrote it" in refused(capsys, command, run)


@every_command
@pytest.mark.parametrize("lost", ["gone", "empty"])
def test_a_lost_journal_is_named_with_what_it_cost_and_the_way_out(
    run: Path, command: str, lost: str, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = run / "journal.jsonl"
    journal.unlink() if lost == "gone" else journal.write_bytes(b"")
    assert f"{journal} is {lost}, and with it every answer" in refused(capsys, command, run)
    (run / "summary.json").write_text('{"known_usd": "1.50", "exposed_usd": "0.25"}')
    said = refused(capsys, command, run)
    assert "what they cost ($1.50 spent and $0.25 exposed, by summary.json)" in said
    assert "restore the file from a copy, or start a new run in another folder" in said


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run that came to its end."""
    folder = tmp_path_factory.mktemp("ended") / "run"
    words = ["--model", "sim/reader-perfect", "--condition", "B", "--limit", "2", "--sql-workers", "1"]
    assert main(["run", "enterprisemem", *words, "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    ("words", "said"), [(["--table", "prices"], "there is no table 'prices'"), (["--format", "csv"], "one table")]
)
def test_a_rescore_that_could_not_be_printed_is_refused_before_it_scores(
    ended: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rescore", str(ended), *words]) == 2
    assert said in capsys.readouterr().err
    assert not (ended / "scorings").exists()


@every_command
def test_a_journal_that_lost_lines_at_its_end_is_refused_until_that_is_meant(
    ended: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    journal = run / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-2]))
    lost = len(lines[-1]) + len(lines[-2])
    said = refused(capsys, command, run)
    assert f"{journal} is {lost} bytes shorter than when the run ended last" in said
    assert "lines were removed at its end" in said
    (run / "summary.json").unlink()
    assert main(["status", str(run)]) == 0


@every_command
@pytest.mark.parametrize("instead", [b"", b"{}\n"], ids=["removed", "shortened"])
def test_a_journal_that_was_edited_in_its_middle_is_said_to_be_and_not_to_be_gone_on_with(
    ended: Path, tmp_path: Path, command: str, instead: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    journal = run / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], instead, *lines[4:]]))
    said = refused(capsys, command, run)
    assert f"{len(lines[3]) - len(instead)} bytes shorter than when the run ended last" in said
    assert f"lines were removed or changed in it, from the line at byte {sum(map(len, lines[:3]))} on" in said
    assert "delete" not in said

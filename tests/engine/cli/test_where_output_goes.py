"""No command writes over a run's evidence or over what it reads, and none ignores where it is told to write."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from turntide.engine.cli import main

from tests.support.commands import exit_code
from tests.support.sweeps import Sweep, Talk, begin, write

SWEEP = Sweep(talks=[Talk(name="NW-1"), Talk(name="NW-2", turns=4)], models=("sim/one", "sim/two"))

WRITING = [
    "report RUN --html RUN/journal.jsonl",
    "report RUN --html RUN/manifest.json",
    "report RUN --out RUN/manifest.json",
    "report RUN --out RUN/journal.jsonl --format text",
    "report RUN --out RUN/scorings",
    "report RUN --figures RUN/scorings",
    "report RUN --html OTHER/journal.jsonl",
    "compare RUN --out RUN/summary.json",
    "rescore RUN --out RUN/manifest.json",
    "export RUN --to csv --out RUN/scorings",
    "export RUN --to otel --out RUN/journal.torn",
    "data build tide --seed 1 --out RUN/manifest.json",
    "data build enterprisemem --seed 1 --out RUN/journal.jsonl",
    "tide audit serve RUN/summary.json --annotator someone",
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "OTHER", SWEEP)
    return write(tmp_path / "RUN", SWEEP)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return what is said by a command that is refused, prints nothing and leaves every file as it was."""
    before = {path: path.is_file() and path.read_bytes() for path in Path().rglob("*")}
    code = exit_code(words)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert {path: path.is_file() and path.read_bytes() for path in Path().rglob("*")} == before
    return err


@pytest.mark.parametrize("command", WRITING)
def test_no_command_writes_over_what_a_run_keeps(run: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no output may replace" in refused(capsys, *command.split())


def test_a_report_may_replace_an_older_one_beside_the_journal(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["report", "RUN", "--out", "RUN/report.json"]) == 0
    assert main(["report", "RUN", "--out", "RUN"]) == 0
    assert (run / "report.txt").exists()


def test_a_folder_as_page_and_a_file_as_folder_of_figures_are_plain_errors(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pages").mkdir()
    Path("figures").write_text("")
    assert "pages is a folder: name a file" in refused(capsys, "report", "RUN", "--html", "pages")
    assert "figures is a file: name a folder" in refused(capsys, "report", "RUN", "--figures", "figures")


@pytest.mark.parametrize("beside", ["--out x.txt", "--format csv", "--json", "--table cost"])
def test_a_page_and_printed_tables_are_asked_for_apart(
    run: Path, beside: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "report", "RUN", "--html", "x.html", *beside.split())
    assert beside.split()[0] in said
    assert "Ask for one after the other" in said


@pytest.mark.parametrize("option", ["--out", "--html", "--figures"])
def test_an_empty_name_is_not_this_folder(run: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "an empty name" in refused(capsys, "report", "RUN", option, "")


def test_a_suffix_that_is_no_format_is_refused_unless_the_format_is_said(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "report", "RUN", "--out", "x.pdf")
    assert "there is no format .pdf. Names of files end in .txt, .md, .tex, .csv, .json" in said
    assert main(["report", "RUN", "--out", "x.log", "--format", "text"]) == 0


def test_a_run_without_a_score_says_why_to_every_reader_and_gets_no_scoring(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin(Path("new"), SWEEP)
    for command in ("report", "compare", "rescore"):
        said = refused(capsys, command, "new")
        assert "no turn is scored yet in new" in said
        assert "new: next: turntide resume new" in said
    assert main(["export", "new", "--to", "csv", "--out", "rows", "--no-prompts"]) == 0
    said = capsys.readouterr().err
    assert "INCOMPLETE: 0 of 20 turns are scored\n" in said
    assert "new: next: turntide resume new" in said


def test_a_table_that_is_empty_has_nothing_to_show(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "RUN", "--table", "disagreements"]) == 0
    assert "Nothing to show." in capsys.readouterr().out
    assert main(["report", "RUN"]) == 0
    assert "Turns on which a comparison disagrees" not in capsys.readouterr().out


def test_another_runs_scoring_is_not_taken_for_this_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "sim/reader-perfect", "--condition", "A", "--limit", "1", "--sql-workers", "1"]
    for name in ("one", "two"):
        assert main(["run", "enterprisemem", *words, "--out", str(tmp_path / name)]) == 0
    assert main(["rescore", str(tmp_path / "one")]) == 0
    shutil.copytree(tmp_path / "one" / "scorings", tmp_path / "two" / "scorings")
    capsys.readouterr()
    assert main(["report", str(tmp_path / "two")]) == 2
    assert "is a scoring of another run" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "two"), "--scoring", "0"]) == 0

"""A journal whose chain is whole and whose lines are not ours: every command that reads it refuses it in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from turntide.engine.cli import main
from turntide.engine.journal import Fields, scan

from tests.support.journals import chained
from tests.support.sweeps import Sweep, Talk, write

SWEEP = Sweep(talks=[Talk(name="NW-1")], conditions=("A",))
COMMANDS = ["status", "report", "compare", "rescore", "export"]

# run, part (began), sent, answer, sql, record, end, part (ended): lines 1 to 8.
ODD: dict[str, tuple[int, Callable[[Fields], object]]] = {
    "a part that began at no time": (2, lambda line: line.update(began="yesterday")),
    "a plan that counts in words": (2, lambda line: line.update(planned={"sim/one": "all"})),
    "a cost that is no number": (3, lambda line: line.update(usd="NaN")),
    "an attempt of nobody": (3, lambda line: line.pop("m")),
    "an answer without text": (4, lambda line: line.pop("text")),
    "an answer that took for ever": (4, lambda line: line.update(took=float("inf"))),
    "usage in words": (4, lambda line: line.update(usage={"input_tokens": "many"})),
    "no usage and not left out": (4, lambda line: line.update(usage=None)),
    "an outcome of no kind": (5, lambda line: line.update(outcome={"status": "fine"})),
    "a cell of no kind": (5, lambda line: line["outcome"].update(excerpt=[[{"$int": "one"}]])),
    "a record that is none": (6, lambda line: line.update(fields=["correct"])),
    "a place that is no number": (6, lambda line: line.update(s="2")),
    "an end of nobody": (7, lambda line: line.update(u=None)),
    "reasons that are none": (8, lambda line: line.update(reasons=None)),
}


def forge(run: Path, number: int, odd: Callable[[Fields], object], *, without: str = "") -> Path:
    """Change line `number` of a run's journal, under checksums and a chain that are right; return the journal."""
    path = run / "journal.jsonl"
    lines = list(scan(path))
    odd(lines[number - 1])
    path.write_bytes(chained(line for line in lines if not without or line.get("u") != without))
    (run / "summary.json").unlink(missing_ok=True)
    return path


def refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 2
    (said,) = capsys.readouterr().err.splitlines()
    return said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("number", "odd"), ODD.values(), ids=ODD)
def test_a_line_of_the_right_checksum_and_the_wrong_content_is_named_by_its_number(
    number: int, odd: Callable[[Fields], object], command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = forge(write(tmp_path / "run", SWEEP), number, odd)
    more = ["--to", "csv", "--out", str(tmp_path / "out")] if command == "export" else []
    said = refusal([command, str(tmp_path / "run"), *more], capsys)
    assert said.startswith(f"turntide: {journal}: line {number}, at byte ")
    assert "line of ours: " in said


WRONG: dict[str, Callable[[Fields], Any]] = {
    "another word": lambda line: line["fields"].update(category="fine"),
    "a number in place of a word": lambda line: line["fields"].update(sql=1),
    "nothing in it": lambda line: line["fields"].clear(),
}


@pytest.mark.parametrize("command", ["report", "compare", "rescore", "export"])
@pytest.mark.parametrize("odd", WRONG.values(), ids=WRONG)
def test_a_record_that_is_none_of_the_benchmarks_is_named_by_its_number(
    odd: Callable[[Fields], Any], command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = forge(write(tmp_path / "run", SWEEP), 6, odd)
    more = ["--to", "csv", "--out", str(tmp_path / "out")] if command == "export" else []
    said = refusal([command, str(tmp_path / "run"), *more], capsys)
    assert said.startswith(f"turntide: {journal}: line 6, at byte ")
    assert "it is no TurnRecord of ours: " in said


def test_a_run_does_not_go_on_over_a_journal_with_a_line_that_is_not_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    words = ["--model", "sim/reader-perfect", "--condition", "C", "--limit", "2", "--sql-workers", "1"]
    assert main(["run", "enterprisemem", *words, "--out", str(run)]) == 0
    capsys.readouterr()
    lines = list(scan(run / "journal.jsonl"))
    *_, last = (line["u"] for line in lines if line["k"] == "end")
    for kind, odd in {"record": WRONG["nothing in it"], "sent": ODD["a cost that is no number"][1]}.items():
        number = next(at for at, line in enumerate(lines, 1) if line["k"] == kind)
        journal = forge(run, number, odd, without=last)
        assert f"{journal}: line {number}, at byte " in refusal(["resume", str(run)], capsys)

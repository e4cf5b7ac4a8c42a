"""`turntide report` and `turntide status`, on run folders written by fixtures."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import Fault
from turntide.engine.calls.ledger import fail_line, sent_line
from turntide.engine.cli import main
from turntide.engine.cli.status import watch, watcher_of
from turntide.engine.folder.manifest import Manifest
from turntide.engine.folder.parts import began, ended
from turntide.engine.journal import Journal, Key

from tests.support.sweeps import Sweep, Talk, begin, write

HOLDER = Path(__file__).parents[2] / "support" / "lock_holder.py"
SWEEP = Sweep(talks=[Talk(name="NW-1"), Talk(name="NW-2", turns=4)], models=("sim/one", "sim/two"))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "run", SWEEP)


def said(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main([str(word) for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("turntide: ")
    return err


def test_a_report_that_fails_leaves_the_run_as_it_was(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    monkeypatch.setattr("turntide.results.formats.written", fail)
    with pytest.raises(ZeroDivisionError):
        main(["report", str(run)])
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


class TestReport:
    def test_by_default_it_prints_results_and_neither_folder_nor_clock(
        self, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = said(capsys, "report", run)
        assert text.startswith("EnterpriseMem-Bench: 2 models × 2 conditions × 5 turns\nSIMULATED: ")
        assert str(run) not in text
        assert "Operations" not in text
        assert text == said(capsys, "report", write(run.parent / "again", SWEEP, shuffled=1))

    def test_operations_come_on_request(self, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        text = said(capsys, "report", run, "--operations")
        assert text.startswith(said(capsys, "report", run))
        assert "Operations: dialogues and calls" in text

    def test_json_holds_results_and_operations_apart(self, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        plain = json.loads(said(capsys, "report", run, "--json"))
        full = json.loads(said(capsys, "report", run, "--json", "--operations"))
        assert list(plain) == ["report"]
        assert full["report"] == plain["report"]
        assert full["operations"][str(run)]["models"]["sim/one"]["sends"] == 10

    def test_why_a_run_is_incomplete_stands_on_stderr_and_in_operations_and_never_among_results(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder, why = write(tmp_path / "run", SWEEP, dropped=3), "its time is over"
        assert main(["report", str(folder)]) == 0
        killed = capsys.readouterr()
        assert "ended without a word: it was killed, or its disk was full" in killed.err
        with Journal.open(folder / "journal.jsonl") as journal:
            journal.append(ended("incomplete", [why], {"sim/two": why}))
        assert main(["report", str(folder)]) == 0
        told = capsys.readouterr()
        assert told.out == killed.out
        assert f"{folder}: it ended because: {why}\n{folder}: next: turntide resume {folder}\n" in told.err
        operations = json.loads(said(capsys, "report", folder, "--operations", "--json"))["operations"][str(folder)]
        assert operations["parts"][0]["models"] == {"sim/two": why}
        assert why in said(capsys, "report", folder, "--operations")

    def test_one_table_is_shown_alone(self, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("report", run, "--table", "cost", "--json")
        assert [table["key"] for table in json.loads(said(capsys, *words))["report"]["tables"]] == ["cost"]
        assert "there are completeness, ex_by_condition" in refused(capsys, "report", run, "--table", "prices")

    def test_the_width_is_the_users(self, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        narrow = said(capsys, "report", run, "--table", "ex_by_condition", "--width", "60")
        assert max(map(len, narrow.splitlines())) <= 60

    def test_folders_are_read_together(self, tmp_path: Path, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        parts = [write(tmp_path / model[4:], replace(SWEEP, models=(model,))) for model in SWEEP.models]
        assert said(capsys, "report", *parts) == said(capsys, "report", run)

    def test_the_report_of_a_running_one_does_not_lead_to_itself(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = write(tmp_path / "run", SWEEP, dropped=3)
        with held(folder):
            assert main(["report", str(folder)]) == 0
        assert "next:" not in capsys.readouterr().err

    def test_what_is_no_run_is_refused_plainly(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert "there is no folder" in refused(capsys, "report", tmp_path / "nowhere")
        assert "is not a run: it holds no manifest.json" in refused(capsys, "report", tmp_path)
        assert "no turn is scored yet" in refused(capsys, "report", begin(tmp_path / "new", SWEEP))

    def test_a_damaged_journal_is_named_with_its_byte(self, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        journal = run / "journal.jsonl"
        journal.write_bytes(journal.read_bytes().replace(b'"category":"correct"', b'"category":"Correct"', 1))
        assert "journal.jsonl: line 6, at byte" in refused(capsys, "report", run)

    def test_a_run_of_another_format_or_benchmark_is_refused(
        self, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        held = Manifest.load(run)
        replace(held, identity={**held.identity, "benchmark": "unheard-of"}).save(run)
        assert "unknown report 'unheard-of'. Installed: enterprisemem, tide, tide-build." in refused(
            capsys, "report", run
        )
        replace(held, identity={**held.identity, "format": 99}).save(run)
        assert "has format 99" in refused(capsys, "report", run)


@contextmanager
def held(folder: Path) -> Generator[int]:
    """Hold the folder's lock in another process; yield its id."""
    with subprocess.Popen(
        [sys.executable, str(HOLDER), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline()
        yield process.pid


class TestStatus:
    def status(self, capsys: pytest.CaptureFixture[str], folder: Path) -> dict[str, Any]:
        return json.loads(said(capsys, "status", folder, "--json"))

    def test_a_complete_run_leads_to_its_report(self, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        found = self.status(capsys, run)
        assert (found["state"], found["holder"], found["next"]) == ("complete", None, f"turntide report {run}")
        assert (found["dialogues_done"], found["dialogues_planned"]) == (8, 8)
        assert found["known_usd"] == "0.020"

    def test_a_killed_run_is_incomplete_and_can_be_resumed(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = write(tmp_path, SWEEP, dropped=8)
        found = self.status(capsys, folder)
        assert (found["state"], found["next"]) == ("incomplete", f"turntide resume {folder}")
        assert found["models"]["sim/two"]["dialogues_done"] == 3

    def test_a_running_one_names_its_process_and_is_not_disturbed(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = write(tmp_path, SWEEP, dropped=8)
        with held(folder) as pid:
            found = self.status(capsys, folder)
            assert (found["state"], found["holder"]["pid"]) == ("running", pid)
            assert f"running by process {pid} on " in said(capsys, "status", folder)

    def test_it_says_what_failed_what_it_spent_and_how_to_go_on(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = write(tmp_path, SWEEP, dropped=8)
        manifest = Manifest.load(folder)
        spec = {**manifest.settings["spec"], "settings": {"max_cost": "0.5"}}
        replace(manifest, settings={"spec": spec}).save(folder)
        with Journal.open(folder / "journal.jsonl") as journal:
            for n, message in ((7, "HTTP 500"), (8, "HTTP 503 \x1b[31m")):
                journal.append(sent_line(Key("u"), n, "h", Decimal("0.01"), "sim/two"))
                journal.append(fail_line(Key("u"), n, Fault(kind="server", message=message)))
            journal.append(ended("budget", ["the budget is reached"]))
        text = said(capsys, "status", folder)
        assert "server 2" in text
        assert r"last failure: HTTP 503 \x1b[31m" in text
        assert "spent $0.0180 + $0.0100 exposed of $0.5" in text
        assert "1 sends without a reply on record: lost with their process" in text
        assert "it ended because: the budget is reached" in text
        assert f"next: turntide resume {folder} --max-cost MORE" in text

    def test_watching_follows_a_run_until_its_process_is_gone(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = write(tmp_path, SWEEP, dropped=8)
        missing = [line for unit in SWEEP.units() for line in SWEEP.lines(unit)][-8:]
        watcher = watcher_of(folder)
        with ExitStack() as stack:
            stack.enter_context(held(folder))
            assert watcher.status().state == "running"

            def sleep(seconds: float) -> None:
                assert seconds == 7
                with Journal.open(folder / "journal.jsonl") as journal:
                    for _ in range(min(4, len(missing))):
                        journal.append(missing.pop(0))
                if not missing:
                    stack.close()

            watch(watcher, 7, as_json=True, sleep=sleep)
        seen = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(each["state"], each["models"]["sim/two"]["answers"]) for each in seen] == [
            ("running", 9),
            ("complete", 10),
        ]
        assert seen[-1] == self.status(capsys, folder)

    def test_a_run_that_has_just_begun_has_a_status(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run = begin(tmp_path / "new", SWEEP)
        assert self.status(capsys, run)["dialogues_planned"] is None
        assert f"incomplete: no dialogue has begun yet in {run}" in said(capsys, "status", run)
        with Journal.open(run / "journal.jsonl") as journal:
            journal.append(began({"sim/one": 4}))
        assert self.status(capsys, run)["dialogues_planned"] == 4

    def test_what_is_no_run_is_refused_plainly(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert "there is no folder" in refused(capsys, "status", tmp_path / "nowhere")
        assert "holds no manifest.json" in refused(capsys, "status", tmp_path)

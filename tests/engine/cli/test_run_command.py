"""`turntide run` as a user meets it: a process, its exit code, and what stands on its two streams."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.commands import exit_code

SLOW = ["run", "enterprisemem", "--model", "sim/echo?latency=0.2", "--condition", "B", "--concurrency", "8"]
TURNTIDE = [sys.executable, "-m", "turntide.engine.cli"]


def turntide(*words: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TURNTIDE, *words],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def _started(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a run and return when it has got its first answers."""
    process = subprocess.Popen([*TURNTIDE, *words], cwd=folder, stdout=-1, stderr=-1, text=True)
    journal = folder / "run" / "journal.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b'"k":"answer"') > 8:
            return process
        time.sleep(0.02)
    raise AssertionError(process.communicate())


def test_ctrl_c_lets_calls_land_and_the_same_command_finishes(tmp_path: Path) -> None:
    words = [*SLOW, "--limit", "40", "--out", "run"]
    process = _started(tmp_path, *words)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "interrupted" in out
    assert "once more to stop now" in errors
    lines = [json.loads(line) for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()]
    assert sum(line["k"] == "sent" for line in lines) == sum(line["k"] == "answer" for line in lines)
    again = turntide(*words, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "complete: 40 of 40" in again.stdout


def test_a_terminal_that_goes_away_ends_a_run_as_a_signal_does_and_nohup_keeps_it(tmp_path: Path) -> None:
    words = [*SLOW, "--limit", "24", "--out", "run"]
    process = _started(tmp_path, *words)
    for _ in range(2):  # the kernel's and the shell's
        process.send_signal(signal.SIGHUP)
    out, errors = process.communicate(timeout=30)
    assert (process.returncode, "interrupted" in out) == (130, True), errors
    lines = [json.loads(line) for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()]
    assert sum(line["k"] == "sent" for line in lines) == sum(line["k"] == "answer" for line in lines)
    kept = subprocess.Popen(["nohup", *TURNTIDE, *words], cwd=tmp_path, stdout=-1, stderr=-1, text=True)
    time.sleep(1)
    kept.send_signal(signal.SIGHUP)
    out, errors = kept.communicate(timeout=60)
    assert (kept.returncode, "complete: 24 of 24" in out) == (0, True), errors


def test_ctrl_c_twice_stops_now_without_a_traceback(tmp_path: Path) -> None:
    process = _started(
        tmp_path, "run", "enterprisemem", "--model", "sim/echo?latency=1.5", "--limit", "40", "--out", "run"
    )
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_ctrl_c_while_a_run_is_being_opened_says_so(tmp_path: Path) -> None:
    process = subprocess.Popen([*TURNTIDE, *SLOW, "--out", "run"], cwd=tmp_path, stdout=-1, stderr=-1, text=True)
    lock, deadline = tmp_path / "run" / "lock", time.monotonic() + 60
    while not lock.exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "interrupted: " in out + errors
    assert "next: " in out + errors
    assert "Traceback" not in errors


def test_stdout_carries_only_the_summary_and_json_is_json(tmp_path: Path) -> None:
    words = ["run", "enterprisemem", "--model", "sim/echo", "--condition", "A", "--limit", "2", "--json"]
    ran = turntide(*words, folder=tmp_path)
    summary = json.loads(ran.stdout)
    assert (summary["state"], summary["planned"], summary["done"]) == ("complete", 2, 2)
    assert re.fullmatch(r"runs/enterprisemem-[0-9a-f]{10}", summary["folder"])


def test_a_dry_run_sends_nothing_and_needs_no_server(tmp_path: Path) -> None:
    words = [
        "run",
        "enterprisemem",
        "--model",
        "openai/gpt-5-mini",
        "--condition",
        "A",
        "--limit",
        "40",
        "--dry-run",
        "--json",
    ]
    ran = turntide(*words, folder=tmp_path, OPENAI_API_KEY="sk-test", OPENAI_BASE_URL="http://127.0.0.1:9")
    assert ran.returncode == 0, ran.stderr
    model = json.loads(ran.stdout)["models"]["openai/gpt-5-mini"]
    assert model["dialogues"] == 40
    assert 0 < float(model["usd_low"]) < float(model["usd_high"])
    assert not (tmp_path / "runs").exists()


BAD = [
    (["run", "enterprisemem"], "no model"),
    (["run", "enterprisemem", "--model", "sim/echo", "--dry-run", "--seed-from", "nowhere"], "nowhere"),
    (["run", "nothing", "--model", "sim/echo"], "neither a TOML file nor an installed benchmark"),
    (["run", "enterprisemem", "--model", "gpt"], "is not provider/model"),
    (["run", "enterprisemem", "--model", "nope/x"], "unknown adapter 'nope'"),
    (["run", "enterprisemem", "--model", "sim/nope", "--limit", "1"], "does not exist"),
    (["run", "enterprisemem", "--model", "sim/echo", "--limit", "-1"], "at least 1"),
    (["run", "enterprisemem", "--model", "sim/echo", "--max-cost", "-1"], "is not an amount"),
    (["run", "enterprisemem", "--model", "sim/echo", "--rpm", "0"], "above zero"),
    (["run", "enterprisemem", "--model", "sim/echo", "--until", "half seven"], "neither a time (07:30) nor a date"),
    (["run", "enterprisemem", "--model", "sim/echo", "--until", "24:30"], "neither a time (07:30) nor a date"),
    (["run", "enterprisemem", "--model", "sim/echo", "--until", "2020-01-01T07:30"], "has passed"),
    (["run", "enterprisemem", "--model", "sim/echo", "--max-errors", "0"], "at least 1"),
    (["probe", "gpt"], "is not provider/model"),
    (["probe", "nope/x"], "unknown adapter 'nope'"),
    (["probe", "openai/gpt-5-mini", "--temperature", "0"], "does not accept `temperature`"),
    (["run", "enterprisemem", "--model", "sim/echo", "--model", "sim/echo"], "named twice"),
    (["run", "enterprisemem", "--model", "sim/echo", "--order", "waves:0"], "no session order"),
    (["run", "enterprisemem", "--model", "sim/echo", "--sessions", "empty.json", "--data", "."], "holds no session"),
    (["run", "enterprisemem", "--model", "sim/echo", "--sessions", "one.json", "--data", "."], "no northwind.sqlite"),
    (["run", "enterprisemem", "--model", "sim/echo", "--database", "northwind"], "NAME=PATH"),
    (["run", "enterprisemem", "--model", "sim/echo", "--temperature", "nan"], "a number from zero on"),
    (["run", "broken.toml", "--condition", "A"], "not valid TOML"),
    (["run", "broken.toml"], "not valid TOML"),
    (["run", "unknown.toml"], "unknown field `optons`"),
    (["run", "missing.toml"], "cannot read the specification"),
    (["nonsense"], "unknown command"),
    (["enterprisemem"], "`turntide run enterprisemem` runs it"),
    (["sql", "nope.db", "SELECT 1"], "no such database file"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_says_what_to_do_with_exit_code_2_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:

    (tmp_path / "empty.json").write_text("[]")
    turn: dict[str, object] = {
        "turn_number": 1,
        "question": "How many?",
        "ground_truth_sql": "SELECT 1",
        "requires_prior_context": False,
        "memory_benefit_expected": False,
        "state_updates": {},
    }
    session: dict[str, object] = {"session_id": "NW-1-001", "source": "northwind", "tier": 1, "turns": [turn]}
    (tmp_path / "one.json").write_text(json.dumps([session]))
    (tmp_path / "broken.toml").write_text("benchmark = ")
    (tmp_path / "unknown.toml").write_text('benchmark = "enterprisemem"\nmodels = [{ id = "sim/echo", optons = {} }]\n')
    monkeypatch.chdir(tmp_path)
    code = exit_code(words)
    shown = capsys.readouterr()
    assert code == 2
    assert said in shown.err + shown.out
    assert "Traceback" not in shown.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_under_stdout_is_a_plain_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [*TURNTIDE, "data", "list", "--json"], cwd=tmp_path, stdout=full, stderr=-1, text=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (2, "turntide: cannot write: No space left on device\n")
        words = [*TURNTIDE, "run", "enterprisemem", "--model", "sim/echo", "--condition", "A", "--limit", "1"]
        ran = subprocess.run(words, cwd=tmp_path, stdout=full, stderr=-1, text=True, check=False)
    assert ran.returncode == 0  # the run itself is complete
    assert "cannot write the summary: No space left on device\ncomplete: 1 of 1 dialogues" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from turntide.engine.cli import main

    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(["run", "enterprisemem", "--model", "openai/gpt-5-mini", "--limit", "1", "--condition", "A"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err

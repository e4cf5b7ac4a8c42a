"""The promise that rests on all others: however a sweep went, its report has the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from turntide.adapters.simulated import Config, SimulatedServer

TURNTIDE = [sys.executable, "-m", "turntide.engine.cli"]
CALM = Config(seed=5)
STORM = Config(seed=5, latency="uniform:0:0.03", faults={"429": 0.04, "500": 0.04, "torn": 0.02}, retry_after=0.05)


def _sweep(out: Path, order: str) -> list[str]:
    models = ["--model", "sim/reader-credulous", "--model", "sim/reader-forgetful"]
    conditions = ["--condition", "B", "--condition", "D"]
    memory = ["--order", order, "--embedder", "lexical", "--limit", "36", "--backoff", "0.02"]
    return [*TURNTIDE, "run", "enterprisemem", *models, *conditions, *memory, "--out", str(out)]


def _run(command: list[str], base_url: str, kills: int = 0) -> None:
    environ = {**os.environ, "TURNTIDE_SIM_BASE_URL": base_url}
    journal = Path(command[-1]) / "journal.jsonl"
    for part in range(kills + 1):
        process = subprocess.Popen(command, env=environ, stdout=-1, stderr=-1)
        if part < kills:
            _wait_for_answers(process, journal, 40 * (part + 1))
            process.send_signal(signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == (-signal.SIGKILL if part < kills else 0), errors.decode()


def _wait_for_answers(process: subprocess.Popen[bytes], journal: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b'"k":"answer"') >= count:
            return
        time.sleep(0.01)
    raise AssertionError("the sweep ended before it could be killed")


@pytest.mark.parametrize("order", ["sequential", "waves:5", "isolated"])
def test_a_stormy_killed_and_resumed_sweep_reports_the_bytes_of_a_calm_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], order: str
) -> None:
    from turntide.engine.cli import main

    with SimulatedServer.start(CALM) as calm, SimulatedServer.start(STORM) as storm:
        _run(_sweep(tmp_path / "calm", order), calm.base_url)
        _run(_sweep(tmp_path / "storm", order), storm.base_url, kills=1)
    for words in ([], ["--json"]):
        shown: list[str] = []
        for folder in ("calm", "storm"):
            assert main(["report", str(tmp_path / folder), *words]) == 0
            shown.append(capsys.readouterr().out)
        assert shown[0] == shown[1]
        assert "INCOMPLETE" not in shown[0]
    if order == "sequential":  # the page holds every prompt besides, and takes its time
        pages: list[bytes] = []
        for folder in ("calm", "storm"):
            page = tmp_path / f"{folder}.html"
            assert main(["report", str(tmp_path / folder), "--html", str(page)]) == 0
            pages.append(page.read_bytes())
        assert pages[0] == pages[1]
        assert b"without their prompts" not in pages[0]

"""Shards as a user starts them, with one of their processes killed: nothing is lost, nothing is paid twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from turntide.adapters.simulated import Config, SimulatedServer
from turntide.adapters.simulated.config import Limits
from turntide.engine.cli import main
from turntide.engine.folder.lock import holder
from turntide.engine.journal import Fields, scan
from turntide.engine.shards.folder import shard_folder

from ...conftest import missing

RPM = 1_200
DIALOGUES = 60
SWEEP = [
    *("run", "enterprisemem", "--model", "sim/reader-good", "--embedder", "lexical"),
    *("--limit", str(DIALOGUES // 2), "--condition", "A", "--condition", "C"),
]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedServer]:
    """A provider that lets in no more than the limit, by the second; all commands talk to it, in `tmp_path`."""
    with SimulatedServer.start(Config(latency="0.1", limits=Limits(requests_per_minute=RPM, window=1))) as server:
        monkeypatch.setenv("TURNTIDE_SIM_BASE_URL", server.base_url)
        monkeypatch.chdir(tmp_path)
        yield server


def _kill_one(shards: int) -> int:
    """Wait until a shard has some answers, kill its process, and return how many of its sends had no answer then."""
    end = time.monotonic() + 180
    while time.monotonic() < end:
        for folder in (shard_folder(Path("cut"), index) for index in range(shards)):
            if (at_it := holder(folder)) and _count(folder, "answer") > 5:
                os.kill(at_it.pid, signal.SIGKILL)
                return _count(folder, "sent") - _count(folder, "answer")
        time.sleep(0.02)
    raise AssertionError("no shard got an answer")


def _count(folder: Path, kind: str) -> int:
    journal = folder / "journal.jsonl"
    return journal.read_bytes().count(b'"k":"%s"' % kind.encode()) if journal.exists() else 0


def _run_and_kill_one(server: SimulatedServer, shards: int, *words: str) -> None:
    """Run the sweep in shards, kill the process of one, and check that the run comes to its end as if nothing were."""
    command = [sys.executable, "-m", "turntide.engine.cli", *SWEEP, "--rpm", str(RPM), "--out", "cut"]
    process = subprocess.Popen([*command, "--shards", str(shards), *words], stdout=-1, stderr=-1, text=True)
    lost = _kill_one(shards)
    out, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert f"complete: {DIALOGUES} of {DIALOGUES} dialogues in cut" in out
    lines = list(_lines(shards))
    assert max(Counter(line["u"] for line in lines if line["k"] == "end").values()) == 1
    stats = server.stats()
    assert stats["by_status"] == {"200": stats["requests"]}  # the limit was kept: nobody was pushed back
    assert isinstance(stats["answered"], int)
    assert stats["answered"] - sum(line["k"] == "answer" for line in lines) <= lost


def _lines(shards: int) -> Iterator[Fields]:
    for index in range(shards):
        yield from scan(shard_folder(Path("cut"), index) / "journal.jsonl")


@pytest.mark.real("redis")
@pytest.mark.usefixtures("redis_url")
def test_a_shard_whose_process_is_killed_goes_on_in_another_and_the_report_is_that_of_the_uncut_run(
    server: SimulatedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _run_and_kill_one(server, 2)
    assert main([*SWEEP, "--out", "whole"]) == 0
    capsys.readouterr()
    reports: list[str] = []
    for folder in ("whole", "cut"):
        assert main(["report", folder, "--json"]) == 0
        reports.append(capsys.readouterr().out)
    assert reports[0] == reports[1]
    assert main(["status", "cut"]) == 0
    assert f"complete: {DIALOGUES} of {DIALOGUES}" in capsys.readouterr().out


@pytest.mark.real("ray")
@pytest.mark.usefixtures("redis_url")
def test_four_shards_on_ray_keep_one_limit_and_a_killed_worker_loses_nothing(server: SimulatedServer) -> None:
    if find_spec("ray") is None:
        missing("ray", "the package is not installed")
    _run_and_kill_one(server, 4, "--on", "ray")

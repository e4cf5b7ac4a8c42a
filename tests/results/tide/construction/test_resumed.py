"""A construction that is killed at every stage and resumed, and what is made of its answers afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.simulated.config import Config, ModelConfig
from turntide.adapters.simulated.process import SimulatedServer
from turntide.engine.cli import main
from turntide.engine.journal import scan

from .conftest import ANCHORS, MODELS, words_of

TURNTIDE = [sys.executable, "-m", "turntide.engine.cli"]
STAGES = ("tide-judge", "tide-rewriter", "tide-generator", "tide-judge")
"""Who never answers, in one part of the run after another: at chains, evidence, drifts, and the judging of drifts."""


def _killed(place: Path, silent: str) -> int:
    """Go on with the run until every anchor waits for the model that never answers, and kill it.

    Return how many answers its server made.
    """
    models = {silent: ModelConfig(reader=silent, latency=120.0)}
    with SimulatedServer.start(Config(models=models)) as server:
        process = _started(place, server)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None and _count(server, "in_flight", "now") < ANCHORS:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        said = process.communicate()
        assert process.returncode == -signal.SIGKILL, said
        return _count(server, "answered")


def _started(place: Path, server: SimulatedServer) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "TURNTIDE_SIM_BASE_URL": server.base_url}
    words = [*TURNTIDE, *words_of(place, *MODELS, out="broken")]
    return subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _count(server: SimulatedServer, *names: str) -> int:
    """Return a number of the server's `/stats`."""
    found: Any = server.stats()
    for name in names:
        found = found[name]
    return found


@pytest.fixture(scope="module")
def runs(place: Path) -> tuple[Path, int]:
    """A run that was killed at every stage, and how many answers its providers made."""
    answered = sum(_killed(place, silent) for silent in STAGES)
    with SimulatedServer.start() as server:
        process = _started(place, server)
        said = process.communicate()
        assert process.returncode == 0, said
        answered += _count(server, "answered")
    return place, answered


@pytest.fixture(scope="module")
def calm(place: Path) -> Path:
    """The folder with a run that nothing disturbed, in `calm`."""
    assert main(words_of(place, *MODELS, out="calm")) == 0
    return place


def test_a_construction_killed_at_every_stage_pays_nothing_twice(runs: tuple[Path, int]) -> None:
    place, answered = runs
    lines = list(scan(place / "broken" / "journal.jsonl"))
    answers = [(line["u"], line["s"]) for line in lines if line["k"] == "answer"]
    assert len(answers) == len(set(answers)) == answered
    sends = sum(line["k"] == "sent" for line in lines)
    assert sends == answered + len(STAGES) * ANCHORS
    ends = [line["u"] for line in lines if line["k"] == "end"]
    assert len(ends) == len(set(ends)) == ANCHORS


def test_it_reports_and_assembles_the_same_bytes_as_a_calm_one(
    runs: tuple[Path, int], calm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, said = runs[0], dict[str, str]()
    for name in ("broken", "calm"):
        assert main(["report", str(place / name), "--json"]) == 0
        said[name] = capsys.readouterr().out
        assert main(["tide-build", "assemble", str(place / name), "--out", str(place / f"{name}.json")]) == 0
        capsys.readouterr()
    assert said["broken"] == said["calm"]
    assert (place / "broken.json").read_bytes() == (place / "calm.json").read_bytes()


def test_provenance_names_calls_that_the_journal_has(calm: Path) -> None:
    answers = {(line["u"], line["s"]) for line in scan(calm / "calm" / "journal.jsonl") if line["k"] == "answer"}
    records = [line["fields"] for line in scan(calm / "calm" / "journal.jsonl") if line["k"] == "record"]
    named = [
        (f"{record['model']}/{record['anchor']}/{record.get('repeat', 0)}", step)
        for record in records
        for stage in record["stages"].values()
        for attempt in stage["attempts"]
        for step in (attempt.get("step"), *(vote["step"] for vote in attempt.get("votes", ())))
        if step is not None
    ]
    assert len(named) > 20
    assert set(named) <= answers


def test_a_construction_is_scored_again_to_the_same_triplets(
    calm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(calm / "calm", tmp_path / "run")
    assert main(["rescore", str(folder)]) == 0
    assert f"{ANCHORS} records" in capsys.readouterr().out
    for name, place in (("before", calm / "calm"), ("after", folder)):
        assert main(["tide-build", "assemble", str(place), "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()

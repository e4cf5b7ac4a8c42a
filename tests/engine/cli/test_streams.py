"""What commands do where their output cannot be what they would like it to be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from turntide.engine.folder.lock import RunLock

from tests.support.sweeps import Sweep, Talk, released, write

TURNTIDE = [sys.executable, "-m", "turntide.engine.cli"]
NARROW = [{"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write(tmp_path_factory.mktemp("run"), Sweep(talks=released().talks[25:28], models=("sim/one",))))


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run in which B is worse than A."""
    sweep = Sweep(talks=[Talk(name=f"NW-{place:02}", turns=4) for place in range(12)], conditions=("A", "B"), told=told)
    return str(write(tmp_path_factory.mktemp("bad"), sweep))


def told(model: str, condition: str, talk: Talk, turn: int) -> Mapping[str, Any]:
    return {"category": "wrong_result" if condition == "B" else "correct"}


@pytest.mark.parametrize("environ", NARROW, ids=str)
def test_a_report_is_shown_in_any_encoding(run: str, environ: dict[str, str]) -> None:
    ran = subprocess.run(
        [*TURNTIDE, "report", run], env={**os.environ, **environ}, capture_output=True, check=False, timeout=60
    )
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False)
    assert b"EX% by condition" in ran.stdout


@pytest.mark.parametrize(("folder", "code"), [("", 0), ("nowhere", 2)])
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_quiet_and_the_exit_code_stays(run: str, folder: str, code: int, closed: str) -> None:
    script = f'"$@" {closed}'
    words = ["sh", "-c", script, "sh", *TURNTIDE, "status", str(Path(run, folder))]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == code, ran.stderr
    assert ran.stdout == ""
    assert ("turntide: " in ran.stderr) == (code == 2 and "2>&-" not in closed)
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("words", "code"), [(["report"], 0), (["compare", "--by", "part", "--fail-if-worse", "0"], 5), (["data"], 2)]
)
def test_who_stops_reading_changes_no_exit_code(bad: str, words: list[str], code: int) -> None:
    command = [*TURNTIDE, *words, bad]
    read, write_end = os.pipe()
    os.close(read)
    try:
        ran = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, check=False, timeout=60)
    finally:
        os.close(write_end)
    assert ran.returncode == code, ran.stderr
    assert b"Traceback" not in ran.stderr


def test_a_watch_ends_with_its_reader(run: str) -> None:
    with RunLock(Path(run)), subprocess.Popen(
        [*TURNTIDE, "status", run, "--watch", "0.1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as watch:  # fmt: skip
        assert watch.stdout
        assert b"running by" in watch.stdout.readline()
        watch.stdout.close()
        assert watch.wait(timeout=30) == 0

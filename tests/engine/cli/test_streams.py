"""What commands do where their output cannot be what they would like it to be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sweeps import Sweep, released, write

TURNTIDE = [sys.executable, "-m", "turntide.engine.cli"]
NARROW = [{"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write(tmp_path_factory.mktemp("run"), Sweep(talks=released().talks[25:28], models=("sim/one",))))


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

"""`turntide demo` as a user meets it when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ...support.processes import becomes_true

DEMO = [sys.executable, "-m", "turntide.engine.cli", "demo", "--out", "run"]


@pytest.mark.parametrize("send", [os.killpg, os.kill], ids=["from the terminal", "to it alone"])
def test_ctrl_c_ends_the_demo_as_it_ends_a_run(tmp_path: Path, send: Callable[[int, int], None]) -> None:
    journal = tmp_path / "run" / "journal.jsonl"
    with subprocess.Popen(DEMO, cwd=tmp_path, stdout=-1, stderr=-1, text=True, start_new_session=True) as demo:
        assert becomes_true(lambda: journal.exists() and b'"k":"answer"' in journal.read_bytes(), 60)
        send(demo.pid, signal.SIGINT)
        out, errors = demo.communicate(timeout=60)
    assert demo.returncode == 130, errors
    assert "interrupted: " in out
    assert "next: turntide resume run" in out
    assert "killed the sweep" not in errors
    assert "Traceback" not in errors

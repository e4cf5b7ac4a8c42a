"""`turntide demo` as a newcomer meets it, interrupted or not."""

from __future__ import annotations

import os
import re
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


def test_the_demo_ends_with_what_it_showed_and_what_to_look_at_next(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "turntide.engine.cli", "demo", "--limit", "12", "--out", "run"]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert "; the sweep is: turntide run enterprisemem --model sim/reader-perfect " in ran.stderr
    assert "killed the sweep" in ran.stderr
    last = ran.stderr.splitlines()[-1]
    repeats = re.search(r"([\d,]+) of them repeats", ran.stderr)
    assert repeats
    assert f"the {repeats[1]} calls on the wire at the kill were asked again" in last
    assert "next: turntide report run --html demo.html, turntide compare run" in last

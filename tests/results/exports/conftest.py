"""Real runs with their data, small; and processes of their own for other people's readers."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from turntide.engine.cli import main

from ...conftest import ROOT, missing

SMALL = ["--concurrency", "4", "--sql-workers", "1"]
MEMORY = ["--model", "sim/reader-forgetful", "--condition", "B", "--limit", "33"]
DRIFT = ["--model", "sim/tide-keeps-retracted", "--user-model", "sim/tide-user", "--limit", "2"]

Reader = Callable[..., Any]

READERS = ROOT / ".venv-readers" / "bin" / "python"
"""Where `make readers` puts them: an environment of their own, for their needs contradict those of ChromaDB."""


@pytest.fixture(scope="session")
def memory_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of EnterpriseMem-Bench: 33 sessions, of which three have several turns."""
    folder = tmp_path_factory.mktemp("memory") / "run"
    assert main(["run", "enterprisemem", *MEMORY, *SMALL, "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def drift_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of TIDE-Bench with a model in the user's place: two triplets under both protocols."""
    folder = tmp_path_factory.mktemp("drift") / "run"
    assert main(["run", "tide", *DRIFT, *SMALL, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def read_apart(tmp_path: Path) -> Reader:
    """Run a script that needs `package` in a process of its own, away from our folder called `datasets`.

    It prints one JSON value, which is returned. Skips where the package is not installed.
    """

    def read(package: str, script: str, *words: str) -> Any:
        python = READERS if READERS.exists() else Path(sys.executable)
        if python != READERS and importlib.util.find_spec(package) is None:
            missing(package, "the package is not installed (make readers)")
        place = tmp_path / "apart"
        place.mkdir(exist_ok=True)
        environ = {**os.environ, "HF_HOME": str(place / "hub"), "HF_HUB_OFFLINE": "1", "PYTHONSAFEPATH": "1"}
        done = subprocess.run(
            [str(python), "-c", script, *words],
            cwd=place,
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return read

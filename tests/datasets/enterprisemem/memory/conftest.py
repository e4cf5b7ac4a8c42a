"""Real servers on loopback ports, where their programs are installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ....conftest import missing
from ....support.servers import free_port, wait_for_port
from ....support.servers import redis_server as redis_server


@pytest.fixture
def chroma_url(tmp_path: Path) -> Iterator[str]:
    program = Path(sys.executable).parent / "chroma"
    if find_spec("chromadb") is None or not program.exists():
        missing("chromadb", "the package is not installed")
    port = free_port()
    command = (program, "run", "--host", "127.0.0.1", "--port", str(port), "--path", tmp_path / "chroma")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()

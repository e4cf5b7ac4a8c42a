"""Real servers on loopback ports, where their programs are installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..conftest import missing


class RedisServer:
    """A Redis that can be stopped and started again, without its data."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("redis-server") is None:
            missing("redis", "no redis-server on the PATH")
        self._folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = ("--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder))
        self._process = subprocess.Popen(("redis-server", *options), stdout=subprocess.DEVNULL)
        wait_for_port(self.port)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that the test may stop, and start again without its data. A conftest that imports it has it."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port: int) -> None:
    for _ in range(400):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing answers on port {port}")

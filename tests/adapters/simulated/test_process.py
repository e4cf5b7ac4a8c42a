"""The provider as a child process: it comes up, goes down, and never outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import httpx
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated.config import Config, configured
from turntide.adapters.simulated.process import SimulatedServer

PARENT = """
import time
from turntide.adapters.simulated import SimulatedServer
server = SimulatedServer.start()
print(server.pid, server.base_url, flush=True)
time.sleep(60)
"""


def running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while running(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not running(pid)


def test_a_server_serves_counts_and_stops_with_its_handle() -> None:
    with SimulatedServer.start(Config(seed=1)) as server:
        with httpx.Client(trust_env=False) as http:
            body = {"model": "echo", "messages": [{"role": "user", "content": "hi"}]}
            assert http.post(server.base_url + "/chat/completions", json=body).status_code == 200
        assert server.stats()["requests"] == 1
        server.reset()
        assert server.stats()["requests"] == 0
        assert os.getsid(server.pid) == server.pid != os.getsid(0)
    assert not running(server.pid)


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(ConfigurationError, match="nobody"):
        SimulatedServer.start(configured({"models": {"m": {"reader": "nobody"}}}))


def test_a_server_that_says_nothing_in_time_is_given_up() -> None:
    with pytest.raises(ConfigurationError, match="nothing in time"):
        SimulatedServer.start(deadline=0.0)


def test_a_server_dies_with_its_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        pid = int(parent.stdout.readline().split()[0])
    assert running(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert ends(pid)

"""llama.cpp's server as a child process: it needs its key, and never outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.local import LocalServer

from ...support.processes import becomes_true, is_alive
from .conftest import MODEL

PARENT = """
import os, time
from turntide.adapters.local import MODELS, LocalServer
from turntide.engine.cli.local import find_weights
model = MODELS["smollm2"]
server = LocalServer.start(model, find_weights(model, os.environ), threads=1)
print(server.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.real("SmolLM2 and llama.cpp")
def test_it_listens_on_loopback_alone_and_to_nobody_without_its_key(server: LocalServer) -> None:
    assert server.base_url.startswith("http://127.0.0.1:")
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
    with httpx.Client(trust_env=False) as http:
        assert http.post(server.base_url + "/chat/completions", json=body).status_code == 401
    assert server.environ()["TURNTIDE_LOCAL_API_KEY"] not in repr(server)


@pytest.mark.real("SmolLM2 and llama.cpp")
@pytest.mark.usefixtures("server")
def test_it_dies_with_its_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        pid = int(parent.stdout.readline())
    assert is_alive(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert becomes_true(lambda: not is_alive(pid))


@pytest.mark.real("SmolLM2 and llama.cpp")
@pytest.mark.usefixtures("server")
def test_weights_that_are_none_are_named_as_the_reason(tmp_path: Path) -> None:
    (tmp_path / "weights.gguf").write_text("not weights")
    with pytest.raises(ConfigurationError, match=r"llama\.cpp's server did not start: Failed to init"):
        LocalServer.start(MODEL, tmp_path / "weights.gguf")


def test_without_the_library_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_spec(name: str) -> None: ...

    monkeypatch.setattr("turntide.adapters.local.server.find_spec", no_spec)
    with pytest.raises(ConfigurationError, match=r"pip install 'turntide\[local\]'"):
        LocalServer.start(MODEL, Path(os.devnull))

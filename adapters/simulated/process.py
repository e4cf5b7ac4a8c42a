"""The simulated provider as a process: in the foreground for `turntide serve`, or as the child of a sweep."""

from __future__ import annotations

import asyncio
import http.client
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final

import msgspec

from ..base import ConfigurationError, Json
from .config import Config
from .server import serve

_MODULE: Final = "turntide.adapters.simulated"
_READY: Final = "ready "
_FAILED: Final = "failed "
_CHUNK: Final = 4096


def run(config: Config, announce: Callable[[str], None], *, lifeline: int | None = None) -> None:
    """Serve until SIGINT, SIGTERM, or the end of the `lifeline` file descriptor; `announce` gets the base URL once.

    Raises ConfigurationError as `serve` does.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(config, announce, lifeline))


async def _serve(config: Config, announce: Callable[[str], None], lifeline: int | None) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with serve(config) as base_url:
        if lifeline is not None:
            loop.add_reader(lifeline, _watch, lifeline, stop)
        announce(base_url)
        await stop.wait()


def _watch(lifeline: int, stop: asyncio.Event) -> None:
    if not os.read(lifeline, _CHUNK):
        asyncio.get_running_loop().remove_reader(lifeline)
        stop.set()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def child() -> int:
    """Serve the configuration that stands on the first line of stdin, until stdin ends: the parent's death ends it too.

    Says `ready URL` or `failed REASON` on stdout.
    """
    try:
        config = msgspec.json.decode(_first_line(sys.stdin.fileno()), type=Config)
        run(config, lambda base_url: print(f"{_READY}{base_url}", flush=True), lifeline=sys.stdin.fileno())
    except (ConfigurationError, msgspec.DecodeError) as error:
        print(f"{_FAILED}{error}", flush=True)
        return 2
    return 0


def _first_line(descriptor: int) -> bytes:
    """Read up to a newline without buffering anything beyond it."""
    line = bytearray()
    while not line.endswith(b"\n") and (chunk := os.read(descriptor, _CHUNK)):
        line += chunk
    return bytes(line)


class SimulatedServer:
    """A simulated provider in a process of its own, which ends with this handle or with the process that holds it."""

    def __init__(self, process: subprocess.Popen[bytes], base_url: str) -> None:
        self._process = process
        self.base_url = base_url
        """Where a client of the OpenAI protocol points: `http://HOST:PORT/v1`."""

    @classmethod
    def start(cls, config: Config | None = None, *, deadline: float = 15.0) -> SimulatedServer:
        """Start a server and return once it listens; blocks for about half a second.

        Raises ConfigurationError with the server's own words when it cannot start, or after `deadline` seconds.
        It has a session of its own, so that a terminal's Ctrl-C leaves it to answer the calls in flight.
        """
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            _write(process, msgspec.json.encode(config or Config()) + b"\n")
            said = _read_line(process, deadline)
            if not said.startswith(_READY):
                reason = said.removeprefix(_FAILED) or "it said nothing in time"
                raise ConfigurationError(f"the simulated provider did not start: {reason}")
        except BaseException:
            _end(process, grace=0.0)
            raise
        return cls(process, said.removeprefix(_READY))

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._process.pid

    def stats(self) -> dict[str, Json]:
        """Return what `GET /stats` shows."""
        return msgspec.json.decode(self._request("GET", "/stats"))

    def reset(self) -> None:
        """Reset counts, accounts and remembered calls."""
        self._request("POST", "/reset")

    def stop(self, grace: float = 5.0) -> None:
        """End the server: gently, and after `grace` seconds by force. Does nothing when it has ended."""
        _end(self._process, grace)

    def __enter__(self) -> SimulatedServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.stop()

    def _request(self, method: str, path: str) -> bytes:
        # Not urllib, which would ask the environment for a proxy to loopback.
        connection = http.client.HTTPConnection(self.base_url.split("/")[2], timeout=10)
        try:
            connection.request(method, path)
            return connection.getresponse().read()
        finally:
            connection.close()


def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # It has died already; what it said, or did not, tells why.
        process.stdin.write(line)
        process.stdin.flush()


def _read_line(process: subprocess.Popen[bytes], deadline: float) -> str:
    """Return the first line that the process writes, or what there is of it when it ends or the time does."""
    assert process.stdout is not None
    line, until = bytearray(), time.monotonic() + deadline
    while not line.endswith(b"\n"):
        readable, _, _ = select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))
        chunk = os.read(process.stdout.fileno(), _CHUNK) if readable else b""
        if not chunk:
            break
        line += chunk
    return line.decode().strip()


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

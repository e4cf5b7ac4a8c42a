"""A server of ours in a process of its own: it says when it is ready, and ends with its handle or with its holder.

The child reads one line of configuration from its stdin, says `ready URL` or `failed REASON` on its stdout, and ends
when its stdin does: whatever ends the parent closes that pipe.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from .base import ConfigurationError

_READY: Final = "ready "
_FAILED: Final = "failed "
_CHUNK: Final = 4096


class ChildServer:
    """The parent's handle."""

    def __init__(self, process: subprocess.Popen[bytes], base_url: str) -> None:
        self._process = process
        self.base_url = base_url
        """Where a client of the OpenAI protocol points: `http://HOST:PORT/v1`."""

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._process.pid

    def stop(self, grace: float = 5.0) -> None:
        """End the server: gently, and after `grace` seconds by force. Does nothing when it has ended."""
        _end(self._process, grace)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.stop()


def start(module: str, config: bytes, deadline: float, what: str) -> tuple[subprocess.Popen[bytes], str]:
    """Run `python -m module`, give it `config` and return it with its base URL once it listens.

    Raises ConfigurationError with the server's own words when it cannot start, or after `deadline` seconds. It has a
    session of its own, so that a terminal's Ctrl-C leaves it to answer the calls in flight.
    """
    command = [sys.executable, "-P", "-m", module]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        _write(process, config + b"\n")
        said = _read_line(process, deadline)
        if not said.startswith(_READY):
            raise ConfigurationError(f"{what} did not start: {said.removeprefix(_FAILED) or _silence(process)}")
    except BaseException:
        _end(process, grace=0.0)
        raise
    return process, said.removeprefix(_READY)


def first_line(descriptor: int) -> bytes:
    """In the child: read up to a newline without buffering anything beyond it."""
    line = bytearray()
    while not line.endswith(b"\n") and (chunk := os.read(descriptor, _CHUNK)):
        line += chunk
    return bytes(line)


def until_orphaned(descriptor: int) -> None:
    """In the child: return when the parent closes the pipe or dies."""
    while os.read(descriptor, _CHUNK):
        pass


def say_ready(base_url: str) -> None:
    """In the child: tell the parent where the server listens."""
    print(f"{_READY}{base_url}", flush=True)


def say_failed(reason: object) -> None:
    """In the child: tell the parent why there is no server."""
    print(f"{_FAILED}{reason}", flush=True)


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


def _silence(process: subprocess.Popen[bytes]) -> str:
    """Return what to say of a server that said nothing: it died, or took too long."""
    with suppress(subprocess.TimeoutExpired):
        code = process.wait(0.1)
        return f"its process ended with {'signal ' if code < 0 else 'code '}{abs(code)}"
    return "it said nothing in time"


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

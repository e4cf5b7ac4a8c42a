"""The simulated provider as a process: in the foreground for `turntide serve`, or as the child of a sweep."""

from __future__ import annotations

import asyncio
import http.client
import os
import sys
from collections.abc import Callable
from typing import Final

import msgspec

from ..base import ConfigurationError, Json
from ..child import ChildServer, first_line, say_failed, say_ready, start
from .config import Config

_MODULE: Final = "turntide.adapters.simulated"
_CHUNK: Final = 4096


def run(config: Config, announce: Callable[[str], None], *, lifeline: int | None = None) -> None:
    """Serve until SIGINT, SIGTERM, or the end of the `lifeline` file descriptor; `announce` gets the base URL once.

    Raises ConfigurationError as `serve` does.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(config, announce, lifeline))


async def _serve(config: Config, announce: Callable[[str], None], lifeline: int | None) -> None:
    from ..listening import stop_signals
    from .server import serve

    stop = stop_signals()
    async with serve(config) as base_url:
        if lifeline is not None:
            asyncio.get_running_loop().add_reader(lifeline, _watch, lifeline, stop)
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

    Says on stdout how it went, as `adapters.child` has it.
    """
    try:
        config = msgspec.json.decode(first_line(sys.stdin.fileno()), type=Config)
        run(config, say_ready, lifeline=sys.stdin.fileno())
    except (ConfigurationError, msgspec.DecodeError) as error:
        say_failed(error)
        return 2
    return 0


class SimulatedServer(ChildServer):
    """A simulated provider in a process of its own, which ends with this handle or with the process that holds it."""

    @classmethod
    def start(cls, config: Config | None = None, *, deadline: float = 15.0) -> SimulatedServer:
        """Start a server and return once it listens; blocks for about half a second.

        Raises ConfigurationError as `adapters.child.start` does.
        """
        return cls(*start(_MODULE, msgspec.json.encode(config or Config()), deadline, "the simulated provider"))

    def stats(self) -> dict[str, Json]:
        """Return what `GET /stats` shows."""
        return msgspec.json.decode(self._request("GET", "/stats"))

    def reset(self) -> None:
        """Reset counts, accounts and remembered calls."""
        self._request("POST", "/reset")

    def _request(self, method: str, path: str) -> bytes:
        # Not urllib, which would ask the environment for a proxy to loopback.
        connection = http.client.HTTPConnection(self.base_url.split("/")[2], timeout=10)
        try:
            connection.request(method, path)
            return connection.getresponse().read()
        finally:
            connection.close()

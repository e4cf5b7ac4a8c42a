"""A server of ours in this process: on loopback unless something else is asked for, until a signal stops it."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from .base import ConfigurationError

_BACKLOG: Final = 128


def is_loopback(host: str) -> bool:
    """Return whether nobody but this machine reaches `host`; a name other than localhost may lead anywhere."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@asynccontextmanager
async def listening(
    runner: web.BaseRunner, host: str, port: int, *, backlog: int = _BACKLOG
) -> AsyncGenerator[tuple[str, int]]:
    """Serve what `runner` has and yield the address and the port that were bound; 0 asks for a free port.

    Raises ConfigurationError when the address cannot be bound.
    """
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, backlog=backlog).start()
        except OSError as error:
            raise ConfigurationError(
                f"cannot serve on {host}:{port}: {error.strerror}. Port 0 takes a free one."
            ) from None
        bound, number = runner.addresses[0][:2]
        yield bound, number
    finally:
        await runner.cleanup()


def origin(host: str, port: int) -> str:
    """Return `http://HOST:PORT`, with the brackets that an IPv6 address needs."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def stop_signals() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set from now on, in place of what they did."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return stop

"""Where shards meet: the Redis that the user names, or one of our own for the length of the run."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from ...adapters.base import ConfigurationError
from .commons import connected
from .on_ray import ADDRESS

URL: Final = "TURNTIDE_REDIS_URL"
LIFELINE: Final = "turntide.engine.shards.lifeline"

STARTING: Final = 10.0
"""Seconds for a Redis of our own to start."""


@asynccontextmanager
async def meeting_place(named: str | None) -> AsyncGenerator[str]:
    """Yield the URL of the Redis that was named, or of one that is started here; raises ConfigurationError.

    One that ends with the run loses nothing: a later part tells the next one what the journals hold.
    """
    if named:
        yield named
        return
    if os.environ.get(ADDRESS):
        raise ConfigurationError(f"shards on a cluster need a Redis that all of them reach: --shard-redis or {URL}.")
    if (program := shutil.which("redis-server")) is None:
        raise ConfigurationError(
            f"shards meet in Redis: install redis-server, or name one with --shard-redis or {URL}."
        )
    with tempfile.TemporaryDirectory(prefix="turntide-redis-") as folder:
        password, port = secrets.token_hex(16), _free_port()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", LIFELINE, program, "-"), stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        assert process.stdin
        try:
            config = ("bind 127.0.0.1", f"port {port}", f"requirepass {password}", 'save ""', f"dir {folder}", ".", "")
            process.stdin.write("\n".join(config).encode())
            url = f"redis://:{password}@127.0.0.1:{port}/0"
            await _answers(url)
            yield url
        finally:
            process.stdin.close()
            await process.wait()


async def _answers(url: str) -> None:
    """Return when the Redis at `url` answers; raises ConfigurationError when it does not in time."""
    end = asyncio.get_running_loop().time() + STARTING
    while True:
        try:
            await (await connected(url)).aclose()
            return
        except ConfigurationError:
            if asyncio.get_running_loop().time() > end:
                raise
            await asyncio.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

"""Where shards meet: the Redis that the user names, or one of our own for the length of the run."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

from ...adapters.base import ConfigurationError
from .commons import in_time
from .on_ray import ADDRESS

URL: Final = "TURNTIDE_REDIS_URL"
LIFELINE: Final = "turntide.engine.shards.lifeline"

STARTING: Final = 10.0
"""Seconds for a Redis of our own to start."""

AGAIN: Final = 0.5
"""Seconds after which a Redis of our own that has died is started again."""


@asynccontextmanager
async def meeting_place(named: str | None, say: Callable[[str], None]) -> AsyncGenerator[str]:
    """Yield the URL of the Redis that was named, or of one that is started here; raises ConfigurationError.

    One of our own is started again when it dies, and `say` hears of it. It holds nothing that it does not learn again
    from the shards, or a later part of the run from the journals.
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
    password, port = secrets.token_hex(16), _free_port()
    config = (
        *("bind 127.0.0.1", f"port {port}", f"requirepass {password}"),
        # It writes nothing; and it finds nothing that somebody else may have left there for it to read.
        *('save ""', f"dir {tempfile.gettempdir()}", f"dbfilename turntide-{secrets.token_hex(16)}.rdb"),
    )
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    keeping = asyncio.create_task(_keep(program, "\n".join((*config, ".", "")).encode(), say))
    try:
        await (await in_time(url, STARTING)).aclose()
        yield url
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def _keep(program: str, config: bytes, say: Callable[[str], None]) -> None:
    """Keep a Redis up until this is cancelled."""
    while True:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", LIFELINE, program, "-"), stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        assert process.stdin
        try:
            process.stdin.write(config)
            await process.wait()
        finally:
            process.stdin.close()
            await process.wait()
        say("the Redis that was started for this run has died; it is started again, and learns anew what it held")
        await asyncio.sleep(AGAIN)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

"""The child's side: one process that executes one statement at a time, through aiosqlite, until its parent is gone.

It lives in the fork server's image (`forkserver`), reads requests from its socket and answers each with one frame:

    {"ready": pid}                        once, at the start
    {"outcome": …, "seconds": …}          what the statement came to
    {"broken": message}                   the database could not be read
    {"error": traceback}                  a fault of ours
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import socket
import sqlite3
import sys
import threading
import time
import traceback
from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import aiosqlite
import orjson
import uvloop
from msgspec.structs import replace

from .bounds import SqlLimits
from .frames import Frames
from .guards import Guard
from .outcome import Outcome
from .verdict import BrokenDatabase, read_error

CONNECTIONS = 8
"""Databases that one worker keeps open; the one used longest ago makes room."""

STACK = 8 * 2**20
"""Of the thread behind each connection, in bytes of address space."""

LONGEST_NAME = 128
"""Of a result's column, in characters."""


def main(channel: socket.socket, limits: SqlLimits) -> NoReturn:
    """Serve `channel` until its other end closes, then leave at once, whatever is still executing."""
    threading.stack_size(STACK)
    uvloop.run(_serve(channel, limits))
    os._exit(0)


def _restrain(limits: SqlLimits) -> None:
    """Bound this process: its memory, no file may grow, no core is dumped."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if sys.platform == "linux":  # elsewhere the kernel does not hold a process to it
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + CONNECTIONS * STACK + limits.memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


async def _serve(channel: socket.socket, limits: SqlLimits) -> NoReturn:
    loop = asyncio.get_running_loop()
    requests: asyncio.Queue[bytes] = asyncio.Queue()
    # The parent's end closes when it is done with us and when it was killed. The statement under way runs on another
    # thread, so this one always hears of it.
    frames = Frames(received=requests.put_nowait, lost=lambda: os._exit(0))
    await loop.create_connection(lambda: frames, sock=channel)
    _restrain(limits)
    frames.send(orjson.dumps({"ready": os.getpid()}))
    databases = Databases(limits)
    while True:
        request = orjson.loads(await requests.get())
        frames.send(orjson.dumps(await _answer(databases, request)))


async def _answer(databases: Databases, request: dict[str, Any]) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        outcome = await databases.execute(request["uri"], request["sql"], request["deadline"])
    except BrokenDatabase as error:
        return {"broken": str(error)}
    except Exception:
        return {"error": traceback.format_exc()}
    return {"outcome": outcome.to_json(), "seconds": time.perf_counter() - start}


class Databases:
    """The guarded connections of one worker, by database URI."""

    def __init__(self, limits: SqlLimits) -> None:
        self._limits = limits
        self._open: OrderedDict[str, tuple[aiosqlite.Connection, Guard]] = OrderedDict()

    async def execute(self, uri: str, sql: str, deadline: float) -> Outcome:
        """Execute one statement and return its outcome. Raises BrokenDatabase."""
        connection, guard = await self._connection(uri)
        collector = guard.arm(deadline)
        columns: tuple[str, ...] = ()
        try:
            async with connection.execute(sql) as cursor:
                columns = tuple(name[:LONGEST_NAME] for name, *_ in cursor.description or ())
                if not columns:  # a statement that found nothing to do, so nobody has refused it: REINDEX
                    return Outcome(status="denied", message="only queries are allowed")
                await cursor.fetchall()  # the guard takes each row as it comes and leaves None
        except Exception as error:
            outcome = read_error(error, refused=guard.refused, deadline=deadline)
            if outcome.status == "timeout":  # an interrupted connection is not trusted with another statement
                await self._close(uri)
            if outcome.status not in ("rows", "bytes"):
                return outcome
            return replace(outcome, columns=columns, rows=collector.rows, excerpt=collector.excerpt)
        return Outcome(
            status="ok",
            columns=columns,
            rows=collector.rows,
            excerpt=collector.excerpt,
            digests=collector.digests(),
        )

    async def _connection(self, uri: str) -> tuple[aiosqlite.Connection, Guard]:
        if uri not in self._open:
            if len(self._open) == CONNECTIONS:
                await self._close(next(iter(self._open)))
            # The traceback of a time-out holds its connection in a cycle, and with it the stack of that one's thread.
            gc.collect()
            guard = Guard(self._limits)
            try:
                connection = await aiosqlite.Connection(partial(guard.connect, uri), iter_chunk_size=64)
            except sqlite3.Error as error:
                raise BrokenDatabase(str(error)) from error
            self._open[uri] = connection, guard
        self._open.move_to_end(uri)
        return self._open[uri]

    async def _close(self, uri: str) -> None:
        connection, _ = self._open.pop(uri)
        await connection.close()

"""A raw TCP server that plays a script to each connection: the faults of real hosts, exactly timed."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import pytest
from turntide.adapters.base import Account, Secret, WireReply, WireRequest
from turntide.adapters.transport import HttpxTransport

Step: TypeAlias = "bytes | float | Literal['read', 'close', 'reset', 'gone']"
"""Write bytes · wait seconds · read one request · close · reset (RST) · wait until the client closes."""
Script: TypeAlias = "tuple[Step, ...]"

KEY = "sk-very-secret-0123456789"
REQUEST = WireRequest(path="/chat", body=b'{"model":"m"}')
DEADLINE = 0.3
"""Seconds, for what must run into it; all else gets `AMPLE`, so that a busy machine makes no time-out of it."""
AMPLE = 10.0
CONNECT_TIMEOUT = 0.25


@dataclass
class FaultyServer:
    """Plays `script` to every connection; `heads` are the requests it has read.

    `asked` is set by the first of them, `left` when a client has closed a connection.
    """

    script: Script
    url: str = ""
    connections: int = 0
    heads: list[str] = field(default_factory=list[str])
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def play(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            for step in self.script:
                await self._step(step, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _step(self, step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif isinstance(step, float):
            await asyncio.sleep(step)
        elif step == "read":
            self.heads.append(await _read_request(reader))
            self.asked.set()
        elif step == "gone":
            await reader.read()
            self.left.set()
        elif step == "close":
            writer.close()
        else:
            linger_no_longer = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_no_longer)
            writer.transport.abort()


async def _read_request(reader: asyncio.StreamReader) -> str:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = next((line for line in head.lower().split("\r\n") if line.startswith("content-length:")), ":0")
    await reader.readexactly(int(length.partition(":")[2]))
    return head


Serve: TypeAlias = "Callable[[Script], Awaitable[FaultyServer]]"


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    servers: list[asyncio.Server] = []

    async def start(script: Script) -> FaultyServer:
        faulty = FaultyServer(script)
        server = await asyncio.start_server(faulty.play, "127.0.0.1", 0)
        servers.append(server)
        faulty.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        return faulty

    yield start
    for server in servers:
        server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@pytest.fixture
async def transport() -> AsyncIterator[HttpxTransport]:
    opened = HttpxTransport(connect_timeout=CONNECT_TIMEOUT)
    yield opened
    await opened.aclose()


Post: TypeAlias = "Callable[..., Awaitable[WireReply]]"


@pytest.fixture
def post(transport: HttpxTransport) -> Post:
    async def send(url: str, request: WireRequest = REQUEST, deadline: float = AMPLE) -> WireReply:
        account = Account(provider="p", base_url=url, key=Secret(KEY))
        return await transport.send(account, request, (("authorization", f"Bearer {KEY}"),), deadline)

    return send

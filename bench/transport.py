"""Client CPU per request of the transport candidates, against a small server in a process of its own.

    python bench/transport.py [--flights 50 1000 5000] [--requests 6000] [--rounds 1]

Each request posts 6 KB and reads 1 KB over kept connections; the server answers after a delay that keeps all of them
in flight. Read the ratios between rows of one run: on a shared machine single figures move by a quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeAlias, cast

import aiohttp
import httpx
import uvloop
from httpx_aiohttp import AiohttpTransport
from pyreqwest.client import ClientBuilder
from turntide.adapters.base import Account, Secret, WireRequest
from turntide.adapters.transport import HttpxTransport

BODY = b'{"x":"' + b"x" * 6_000 + b'"}'
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + b"y" * 1000
HEADERS = (("content-type", "application/json"), ("authorization", "Bearer k"))
DEADLINE = 60.0

Call: TypeAlias = "Callable[[], Awaitable[bytes]]"
Close: TypeAlias = "Callable[[], Awaitable[None]]"


def turntide(url: str) -> tuple[Call, Close]:
    """Our own: httpx objects, pyreqwest's httpx transport called directly."""
    transport = HttpxTransport()
    account = Account(provider="bench", base_url=url, key=Secret("k"))
    request = WireRequest(path="/chat", body=BODY)

    async def call() -> bytes:
        return (await transport.send(account, request, HEADERS[1:], DEADLINE)).body

    return call, transport.aclose


def pyreqwest(url: str) -> tuple[Call, Close]:
    """pyreqwest alone, its body read in one piece: the floor of what is under ours."""
    client = ClientBuilder().no_proxy().build()

    async def call() -> bytes:
        request = client.post(f"{url}/chat").headers(list(HEADERS)).body_bytes(BODY)
        response = await request.timeout(timedelta(seconds=DEADLINE)).build().send()
        return bytes(await response.bytes())

    return call, client.close


def httpx_aiohttp(url: str) -> tuple[Call, Close]:
    """The other candidate: httpx objects, httpx-aiohttp's transport called directly, a total deadline around it."""
    transport = AiohttpTransport(client=lambda: aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
    target = httpx.URL(f"{url}/chat")

    async def call() -> bytes:
        request = httpx.Request("POST", target, content=BODY, headers=list(HEADERS))
        async with asyncio.timeout(DEADLINE):
            response = await transport.handle_async_request(request)
            try:
                return await response.aread()
            finally:
                await response.aclose()

    return call, transport.aclose


def plain_aiohttp(url: str) -> tuple[Call, Close]:
    """aiohttp without httpx: the bare loop that others would write."""
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def call() -> bytes:
        timeout = aiohttp.ClientTimeout(total=DEADLINE)
        async with session.post(f"{url}/chat", data=BODY, headers=dict(HEADERS), timeout=timeout) as response:
            return await response.read()

    return call, session.close


CANDIDATES = (turntide, pyreqwest, httpx_aiohttp, plain_aiohttp)


class _Answering(asyncio.Protocol):
    """Answers each request `delay` seconds after its last byte."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._seen = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass

    def data_received(self, data: bytes) -> None:
        self._seen += data
        if self._seen.endswith(BODY[-8:]):
            self._seen = b""
            asyncio.get_running_loop().call_later(self._delay, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(REPLY)


async def serve(delay: float) -> None:
    """Answer for ever; the first line of stdout is the port."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Answering(delay), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def measure(open_client: Callable[[str], tuple[Call, Close]], url: str, flight: int, total: int) -> str:
    """Return one row: seconds to open all connections, CPU µs and wall seconds of `total` further requests."""
    call, close = open_client(url)
    began = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(flight)))
    cold = time.perf_counter() - began
    left = iter(range(total))

    async def work() -> None:
        for _ in left:
            assert len(await call()) == 1000

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(flight)))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - began
    await close()
    return f"{open_client.__name__:14} {flight:6} {cold:8.2f} {cpu / total * 1e6:10.0f} {wall:8.2f}"


def run(flight: int, total: int) -> None:
    delay = max(0.05, flight / 10_000)
    for candidate in CANDIDATES:
        command = [sys.executable, __file__, "--serve", str(delay)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            try:
                print(uvloop.run(measure(candidate, url, flight, total)), flush=True)
            finally:
                server.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description="Client CPU per request of the transport candidates.")
    parser.add_argument("--flights", type=int, nargs="+", default=[50, 1000, 5000])
    parser.add_argument("--requests", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve is not None:
        uvloop.run(serve(asked.serve))
        return
    print(f"{'client':14} {'flight':>6} {'cold s':>8} {'CPU µs/req':>10} {'wall s':>8}")
    for _ in range(asked.rounds):
        for flight in asked.flights:
            run(flight, asked.requests)


if __name__ == "__main__":
    main()

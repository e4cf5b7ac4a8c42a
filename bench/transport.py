"""Client CPU per request of the transport candidates, against a small server in a process of its own.

    python -m bench.transport [--flights 50 1000 5000] [--requests 6000] [--rounds 1]

No part of `make bench`: it is how the transport was chosen (docs/transport.md). Each request posts 6 KB and reads 1 KB
over kept connections; the server answers after a delay that keeps all of them in flight. Read the ratios between rows
of one run: on a shared machine single figures move by a quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeAlias

import aiohttp
import httpx
import uvloop
from httpx_aiohttp import AiohttpTransport
from pyreqwest.client import ClientBuilder
from turntide.adapters.base import Account, Secret, WireRequest
from turntide.adapters.transport import HttpxTransport

from .server import ANSWER, answering

BODY = b'{"x":"' + b"x" * 6_000 + b'"}'
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


async def measure(open_client: Callable[[str], tuple[Call, Close]], url: str, flight: int, total: int) -> str:
    """Return one row: seconds to open all connections, CPU µs and wall seconds of `total` further requests."""
    call, close = open_client(url)
    began = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(flight)))
    cold = time.perf_counter() - began
    left = iter(range(total))

    async def work() -> None:
        for _ in left:
            assert len(await call()) == len(ANSWER)

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(flight)))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - began
    await close()
    return f"{open_client.__name__:14} {flight:6} {cold:8.2f} {cpu / total * 1e6:10.0f} {wall:8.2f}"


def run(flight: int, total: int) -> None:
    for candidate in CANDIDATES:
        with answering(max(0.05, flight / 10_000)) as url:
            print(uvloop.run(measure(candidate, url, flight, total)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Client CPU per request of the transport candidates.")
    parser.add_argument("--flights", type=int, nargs="+", default=[50, 1000, 5000])
    parser.add_argument("--requests", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    print(f"{'client':14} {'flight':>6} {'cold s':>8} {'CPU µs/req':>10} {'wall s':>8}")
    for _ in range(asked.rounds):
        for flight in asked.flights:
            run(flight, asked.requests)


if __name__ == "__main__":
    main()

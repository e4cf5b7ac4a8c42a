"""The same dialogue led in four ways: through the engine, and through three loops that people would write instead.

A loop is opened with the server's base URL, the calls in flight and a folder, and yields `talk(name, turns)`, which
leads one dialogue: so many questions, one after another. Prompts are as long as EnterpriseMem-Bench's, some 6 KB;
answers are about 1 KB.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import aiohttp
import httpx
import orjson
from pyreqwest.client import ClientBuilder
from pyreqwest.compatibility.httpx import HttpxTransport as PyreqwestTransport
from turntide.adapters.base import Account, Message, Secret, WireRequest
from turntide.adapters.transport import HttpxTransport
from turntide.engine.spec import Settings

from .engine import MODEL, context, opened

Talk: TypeAlias = Callable[[str, int], Awaitable[None]]
Loop: TypeAlias = Callable[[str, int, Path], AbstractAsyncContextManager[Talk]]

SCHEMA = "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id TEXT, shipped TEXT, freight REAL);\n" * 52
ASKED = "SELECT customer_id, SUM(freight) FROM orders GROUP BY customer_id -- as the question's own text\n" * 10
DEADLINE = 60.0
PRICES = (
    '[[price]]\nmodels = ["sim/*"]\nfrom = 2020-01-01\nsource = "bench"\ninput = "1.25"\noutput = "10"\n'
    "max_output = 1000\n"
)


@asynccontextmanager
async def engine_loop(url: str, flight: int, folder: Path) -> AsyncGenerator[Talk]:
    """Ask through the engine, under a price and a cap."""
    prices = folder / "prices.toml"
    prices.write_text(PRICES)
    settings = Settings(in_flight=flight, max_cost="1000000", prices=str(prices), attempt_timeout=DEADLINE)
    async with opened(settings, url, folder) as door:

        async def talk(name: str, turns: int) -> None:
            dialogue = context(door, name, turns)
            for turn in range(turns):
                await dialogue.ask(MODEL, [Message("system", SCHEMA), Message("user", asked(name, turn))])

        yield talk


@asynccontextmanager
async def bare_loop(url: str, flight: int, folder: Path) -> AsyncGenerator[Talk]:
    """httpx's objects over pyreqwest's own transport for them, orjson, one write per record: nothing else."""
    wire = PyreqwestTransport(ClientBuilder().no_proxy().follow_redirects(False).build())
    target = httpx.URL(f"{url}/chat/completions")
    headers = [("content-type", "application/json"), ("authorization", "Bearer k")]
    timeout = {"timeout": {"read": DEADLINE}}
    with (folder / "answers.jsonl").open("ab", buffering=0) as file:

        async def talk(name: str, turns: int) -> None:
            for turn in range(turns):
                content = body(name, turn)
                request = httpx.Request("POST", target, content=content, headers=headers, extensions=timeout)
                response = await wire.handle_async_request(request)
                try:
                    raw = await response.aread()
                finally:
                    await response.aclose()
                file.write(record(name, turn, raw))

        yield talk
    await wire.aclose()


@asynccontextmanager
async def transport_loop(url: str, flight: int, folder: Path) -> AsyncGenerator[Talk]:
    """The engine's own transport, which spares itself most of httpx, and nothing else of the engine."""
    wire = HttpxTransport()
    account = Account(provider="bench", base_url=url, key=Secret("k"))
    headers = (("authorization", "Bearer k"),)
    with (folder / "answers.jsonl").open("ab", buffering=0) as file:

        async def talk(name: str, turns: int) -> None:
            for turn in range(turns):
                request = WireRequest("/chat/completions", body(name, turn))
                reply = await wire.send(account, request, headers, DEADLINE)
                file.write(record(name, turn, reply.body))

        yield talk
    await wire.aclose()


@asynccontextmanager
async def aiohttp_loop(url: str, flight: int, folder: Path) -> AsyncGenerator[Talk]:
    """aiohttp without httpx."""
    target, timeout = f"{url}/chat/completions", aiohttp.ClientTimeout(total=DEADLINE)
    headers = {"content-type": "application/json", "authorization": "Bearer k"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=headers, timeout=timeout) as session:
        with (folder / "answers.jsonl").open("ab", buffering=0) as file:

            async def talk(name: str, turns: int) -> None:
                for turn in range(turns):
                    async with session.post(target, data=body(name, turn)) as response:
                        raw = await response.read()
                    file.write(record(name, turn, raw))

            yield talk


def asked(name: str, turn: int) -> str:
    """Return what dialogue `name` asks in `turn`; no two questions are the same."""
    return f"{ASKED}{name} {turn}"


def body(name: str, turn: int) -> bytes:
    """Return the bytes that ask, as the engine's adapter writes them."""
    messages = [{"role": "system", "content": SCHEMA}, {"role": "user", "content": asked(name, turn)}]
    return orjson.dumps({"messages": messages, "model": "echo"})


def record(name: str, turn: int, raw: bytes) -> bytes:
    """Return the line that keeps an answer."""
    reply = orjson.loads(raw)
    text, usage = reply["choices"][0]["message"]["content"], reply["usage"]
    return orjson.dumps({"n": name, "turn": turn, "text": text, "model": reply["model"], "usage": usage}) + b"\n"

"""A simulated provider in the test's own loop, and a client that hides nothing of HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol

import httpx
import pytest
from turntide.adapters.simulated.config import configured
from turntide.adapters.simulated.server import serve

from ...support.time import HandClock


@dataclass
class Client:
    base_url: str
    http: httpx.AsyncClient

    async def ask(
        self, content: str = "hello", *, model: str = "echo", key: str | None = None, **options: object
    ) -> httpx.Response:
        headers = {} if key is None else {"idempotency-key": key}
        body = {"model": model, "messages": [{"role": "user", "content": content}], **options}
        return await self.http.post(self.base_url + "/chat/completions", json=body, headers=headers)

    async def text(self, content: str, **more: Any) -> str:
        return (await self.ask(content, **more)).json()["choices"][0]["message"]["content"]

    async def stats(self) -> dict[str, Any]:
        return (await self.http.get(self.base_url.removesuffix("/v1") + "/stats")).json()

    async def raw(self, body: bytes, *headers: str, seconds: float = 0.5, length: int | None = None) -> bytes:
        """Send a request by hand; return all bytes that come until the end or `seconds` of silence."""
        host, port = self.base_url.split("/")[2].split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        promised = len(body) if length is None else length
        head = ["POST /v1/chat/completions HTTP/1.1", "host: x", f"content-length: {promised}", *headers, "", ""]
        writer.write("\r\n".join(head).encode() + body)
        got = b""
        try:
            while chunk := await asyncio.wait_for(reader.read(65536), seconds):
                got += chunk
        except TimeoutError:
            pass
        finally:
            writer.close()
        return got


class Start(Protocol):
    def __call__(self, *, clock: Callable[[], float] | None = None, **config: object) -> Awaitable[Client]: ...


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Start a provider with the given configuration; it ends with the test."""
    async with AsyncExitStack() as stack:

        async def started(*, clock: Callable[[], float] | None = None, **config: object) -> Client:
            served = serve(configured(config), **({} if clock is None else {"clock": clock}))
            base_url = await stack.enter_async_context(served)
            http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=5.0))
            return Client(base_url, http)

        yield started


@pytest.fixture
def clock() -> HandClock:
    return HandClock()

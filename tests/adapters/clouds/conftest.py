"""A host on loopback in a cloud's place, and a question put to it as the engine puts one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from turntide.adapters.base import Account, Message, Question
from turntide.adapters.provider import Provider
from turntide.adapters.transport import HttpxTransport

from ...conftest import missing

MESSAGE = {
    "type": "message",
    "content": [{"type": "text", "text": "SELECT 1"}],
    "model": "claude",
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}


@dataclass
class Host:
    """A server on loopback that keeps each request as it came over the wire, and answers all alike."""

    url: str = ""
    reply: dict[str, Any] = field(default_factory=dict[str, Any])
    came: list[tuple[str, str, dict[str, str], bytes]] = field(
        default_factory=list[tuple[str, str, dict[str, str], bytes]]
    )

    async def handle(self, request: web.BaseRequest) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.came.append((request.method, request.raw_path, headers, await request.read()))
        return web.json_response(self.reply)


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    host = Host()
    runner = web.ServerRunner(web.Server(host.handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address, port = runner.addresses[0][:2]
    host.url = f"http://{address}:{port}"
    yield host
    await runner.cleanup()


async def ask(provider: Provider, account: Account, model: str, **options: Any) -> Any:
    """Ask a question as the engine does; return what was read of the reply."""
    question = Question(model=model, messages=(Message("system", "Be brief."), Message("user", "hi")), options=options)
    transport = HttpxTransport()
    try:
        request = provider.wire.build(question)
        headers = await account.authorize(provider.wire, request)
        return provider.wire.read(await transport.send(account, request, headers, 5.0), question)
    finally:
        await transport.aclose()


def require(module: str) -> None:
    """Skip where the extra is not installed."""
    try:
        __import__(module)
    except ImportError:
        missing(module, "the extra is not installed")

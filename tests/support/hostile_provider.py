"""A provider whose models answer with the hostile texts of the fixtures, or fail in hostile words."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from itertools import cycle

from aiohttp import web

from .cases import blocks, expanded

SPEAKS = "\x1b[2J\x1b]0;pwned\x07\u202e\x9b31m</script><script>window.hacked=1</script>"
"""What speaks to a terminal and to a page."""

ERRORS: Mapping[str, Callable[[], web.Response]] = {
    "error-400": lambda: _json(400, {"error": {"message": f"no {SPEAKS}", "code": SPEAKS}}),
    "error-401": lambda: _json(401, {"error": {"message": f"bad key {SPEAKS}"}}),
    "error-404": lambda: web.Response(status=404, body=f"<html>{SPEAKS}".encode()),
    "error-500": lambda: web.Response(status=500, body=SPEAKS.encode() + b"\xff\xfe\x00"),
    "error-page": lambda: web.Response(status=200, body=f"not JSON {SPEAKS}".encode()),
    "error-redirect": lambda: web.Response(status=307, headers={"Location": "http://127.0.0.1:9/\u202e<script>"}),
}
"""Replies that are no answers, by the model that gets them."""


def hostile_answers() -> list[str]:
    """Return the hostile texts of the fixtures."""
    return [expanded(block.partition("\n")[2]) for block in blocks("hostile_answers.txt")[1:]]


@contextmanager
def hostile_provider() -> Generator[str]:
    """Serve on a thread of its own, each call with the next text, round and round; yield the base URL."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runner = web.AppRunner(_application(), shutdown_timeout=0.1)
    try:
        asyncio.run_coroutine_threadsafe(runner.setup(), loop).result(10)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        asyncio.run_coroutine_threadsafe(site.start(), loop).result(10)
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _application() -> web.Application:
    answers = cycle(hostile_answers())

    async def complete(request: web.Request) -> web.Response:
        model = json.loads(await request.read())["model"]
        if model in ERRORS:
            return ERRORS[model]()
        message = {"role": "assistant", "content": next(answers)}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return _json(200, {"model": SPEAKS, "choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 9}})

    application = web.Application(client_max_size=64 * 2**20)
    application.router.add_post("/v1/chat/completions", complete)
    return application


def _json(status: int, value: object) -> web.Response:
    return web.Response(status=status, body=json.dumps(value).encode(), content_type="application/json")

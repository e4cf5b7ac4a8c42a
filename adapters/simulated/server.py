"""The simulated provider as an HTTP server on loopback."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import msgspec
from aiohttp import web

from ..base import ConfigurationError
from ..listening import is_loopback, listening, origin
from .batches import desks
from .config import Config
from .delivery import deliver, reset
from .exchange import Simulation
from .failure import Failure
from .limits import Clock
from .wire import WIRES, Wire, openai_chat

_LARGEST_BODY: Final = 64 * 1024 * 1024
_BACKLOG: Final = 4096
"""Connections that may wait to be accepted: a client's whole window may come at once."""
_SHUTDOWN: Final = 1.0
"""Seconds that calls in flight get when the server stops."""


@asynccontextmanager
async def serve(config: Config | None = None, *, clock: Clock = time.monotonic) -> AsyncGenerator[str, None]:
    """Serve in this event loop and yield the base URL, `http://HOST:PORT/v1`.

    Raises ConfigurationError when the host is not loopback and remote clients are not allowed, when the port is
    taken, or when a configured model cannot be made.
    """
    config = config or Config()
    _check_host(config)
    handler = Handler(Simulation(config, clock=clock))
    runner = web.ServerRunner(_server(handler), shutdown_timeout=_SHUTDOWN)
    async with listening(runner, config.host, config.port, backlog=_BACKLOG) as (host, port):
        try:
            yield f"{origin(host, port)}/v1"
        finally:
            handler.close()


def _check_host(config: Config) -> None:
    if not (config.allow_remote or is_loopback(config.host)):
        raise ConfigurationError(
            f"{config.host} is not a loopback address. The simulated provider guards nothing: "
            "allow remote clients explicitly (--allow-remote) if that is what you want."
        )


def _server(handler: Handler) -> web.Server:
    loop = asyncio.get_running_loop()

    request = partial(web.BaseRequest, loop=loop, client_max_size=_LARGEST_BODY)
    return web.Server(handler, request_factory=request, access_log=None)


class Handler:
    """Answers HTTP requests from a simulation."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._desks = desks(simulation)

    def close(self) -> None:
        """Stop all work on batches."""
        for desk in self._desks:
            desk.close()

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; nothing that it holds can raise."""
        path = request.path
        if request.method == "POST":
            for wire in WIRES:
                if wire.claims(path):
                    return await self._call(request, wire, path)
        for desk in self._desks:
            if desk.claims(request.method, path):
                return await desk.answer(request)
        return self._administer(request.method, path)

    async def _call(self, request: web.BaseRequest, wire: Wire, path: str) -> web.StreamResponse:
        with self._simulation.call(wire, path, request.headers) as call:
            if call.struck_unread():
                return reset(request)
            body = await _body(request)
            plan = call.refusal(body) if isinstance(body, Failure) else call.plan(body)
            if plan.seconds:
                await asyncio.sleep(plan.seconds)
            response = await deliver(request, plan, self._simulation.config.drip_every)
            call.sent(plan)
            return response

    def _administer(self, method: str, path: str) -> web.Response:
        match method, path:
            case "GET", "/health":
                return _json({"status": "ok", "simulated": True})
            case "GET", "/stats":
                return _json(self._simulation.stats())
            case "POST", "/reset":
                self._simulation.forget()
                return _json({"status": "reset"})
            case _:
                failure = Failure("not_found", f"Nothing answers to {method} {path}.")
                body = openai_chat.error(failure)
                return web.Response(status=failure.status, body=body, content_type="application/json")


async def _body(request: web.BaseRequest) -> bytes | Failure:
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge:
        return Failure("too_large", f"The request body is larger than {_LARGEST_BODY} bytes.")
    except web.RequestPayloadError as error:
        return Failure("bad_request", f"The request body cannot be read: {error}")


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")

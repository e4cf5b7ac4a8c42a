"""How a planned reply goes over the wire: whole, or in one of the ways in which networks fail."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from typing import Final

from aiohttp import web

from .exchange import Plan

_LOOK_EVERY: Final = 0.5
"""Seconds between two looks at whether the client of a stalled call has left."""


async def deliver(request: web.BaseRequest, plan: Plan, drip_every: float) -> web.StreamResponse:
    """Send `plan` in its manner and return what the server finishes: after a broken connection, nothing more."""
    try:
        match plan.manner:
            case "stall":
                await _gone(request)
            case "reset":
                reset(request)
            case "torn":
                return await _part(request, plan)
            case "drip":
                return await _drip(request, plan, drip_every)
            case "duplicate":
                return _twice(request, plan)
            case "plain":
                pass
    except ConnectionError:
        pass  # The client has left in the middle; what was meant for it is booked all the same.
    return web.Response(status=plan.status, body=plan.body, headers=plan.headers)


def reset(request: web.BaseRequest) -> web.Response:
    """Drop the connection with an RST, at once and whatever is still unsent or unread."""
    transport = request.transport
    if transport is not None:
        # A socket that does not linger sends an RST when it closes; the option outlives the duplicate it is set on.
        with socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as duplicate:
            duplicate.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response()


async def _gone(request: web.BaseRequest) -> None:
    while not _closing(request):  # noqa: ASYNC110 - aiohttp has no event for a lost connection
        await asyncio.sleep(_LOOK_EVERY)


async def _part(request: web.BaseRequest, plan: Plan) -> web.StreamResponse:
    """Promise the whole body, send half of it, and close."""
    response = await _started(request, plan)
    await response.write(plan.body[: len(plan.body) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


async def _drip(request: web.BaseRequest, plan: Plan, every: float) -> web.StreamResponse:
    response = await _started(request, plan)
    for position in range(len(plan.body)):
        await response.write(plan.body[position : position + 1])
        await asyncio.sleep(every)
    return response


async def _started(request: web.BaseRequest, plan: Plan) -> web.StreamResponse:
    response = web.StreamResponse(status=plan.status, headers=plan.headers)
    response.content_length = len(plan.body)
    await response.prepare(request)
    return response


class _Written(web.Response):
    """What the server finishes when everything is on the wire already: nothing, and the connection ends."""

    async def prepare(self, request: web.BaseRequest) -> None:
        """Write no head."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Write no body."""


def _twice(request: web.BaseRequest, plan: Plan) -> web.Response:
    """Write the reply and its copy at once, by hand.

    A copy that came a moment later could meet the next question on the connection, and no client could tell that it is
    not the answer to that one.
    """
    head = "".join(f"{name}: {value}\r\n" for name, value in plan.headers.items())
    reply = f"HTTP/1.1 {plan.status} OK\r\n{head}content-length: {len(plan.body)}\r\n\r\n".encode() + plan.body
    if request.transport is not None:
        request.transport.write(2 * reply)
    return _Written()


def _closing(request: web.BaseRequest) -> bool:
    return request.transport is None or request.transport.is_closing()

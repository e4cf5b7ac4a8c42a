"""Who may ask the audit's server for anything at all, and what browsers are told of every answer."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from typing import Final, TypeAlias

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Nothing is loaded, run or framed but the page's own files; no text can become markup; no address is passed on."""


def guard(names: Collection[str]) -> Middleware:
    """Refuse requests under a foreign name, and put the headers on every answer.

    A page of another site can have its own name lead to this machine (DNS rebinding); it then says that name, which is
    neither one of ours nor a plain address.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            if not _is_ours(request.headers.get("Host", ""), names):
                raise web.HTTPMisdirectedRequest(text="This server does not go by that name; see --host.")
            response = await handler(request)
        except web.HTTPException as refusal:
            response = web.Response(status=refusal.status, text=refusal.text)
        response.headers.update(_HEADERS)
        return response

    return guarded


def _is_ours(host: str, names: Collection[str]) -> bool:
    """Return whether a Host header names this server, or an address: its port may be a tunnel's."""
    name, _, port = host.rpartition(":")
    name = name if port.isdigit() else host
    return name.lower() in names or _address(name.strip("[]")) is not None


def name_of(host: str) -> str:
    """Return the name under which others reach what is bound to `host`: of all addresses, this machine's name."""
    address = _address(host)
    return socket.gethostname() if address and address.is_unspecified else host


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None

"""The transport: httpx's requests over pyreqwest's connections. The only module that imports httpx.

httpx's own pool collapses above some fifty connections, so that its client is not used: each request is built as an
`httpx.Request` and goes out through a client of pyreqwest. `docs/transport.md` records how it was chosen, and what each
fault looks like; the table itself is a test.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from functools import lru_cache

# Read when pyreqwest is loaded. Its allocator, mimalloc, would take huge pages, of which a connection uses little, and
# hold on to what was freed for a second (here: ms): half of the memory of thousands of connections.
os.environ.setdefault("MIMALLOC_ALLOW_THP", "0")
os.environ.setdefault("MIMALLOC_PURGE_DELAY", "10")
# httpx loads its own command line where click is installed, and does without where it is not: 50 ms and 6 MB.
sys.modules.setdefault("httpx._main", None)  # pyright: ignore[reportArgumentType]

import httpx
from pyreqwest.client import Client, ClientBuilder
from pyreqwest.exceptions import DetailedPyreqwestError, PyreqwestError
from pyreqwest.http import HeaderMap

from .base import Account, TransportFault, WireReply, WireRequest

IDLE_S = 4.0
"""How long an unused connection is kept: less than the 5 s after which uvicorn and Node close theirs, because a request
that meets a closing connection is lost without a trace and must count as paid."""

_NEVER_LEFT = "client error (Connect)"
"""hyper's own words for an error before a connection stood (name, TCP, TLS, connect time-out). pyreqwest calls drops
after the send and plain hangs "connect" errors too; only this line among the causes tells them apart."""

_url = lru_cache(maxsize=1024)(httpx.URL)


class HttpxTransport:
    """Moves bytes to any number of hosts over one client: one TLS context, no proxy, no cookies, no redirects.

    `connect_timeout`, in seconds, bounds the opening of a connection. Where it is longer than what is left of the
    deadline, a hang while connecting cannot be told from one after the send, and is reported as `sent`.
    """

    def __init__(self, *, connect_timeout: float = 10.0) -> None:
        self._connect_timeout = connect_timeout
        self._client = _client(connect_timeout)

    async def send(
        self, account: Account, request: WireRequest, headers: tuple[tuple[str, str], ...], deadline: float
    ) -> WireReply:
        """Send and return the complete reply within `deadline` seconds of that, or raise TransportFault.

        The deadline is total: connection, headers and body together. A cancelled call returns at once; its connection
        is closed by the deadline, not before.
        """
        try:
            return await self._exchange(account, request, headers, deadline)
        except (httpx.HTTPError, httpx.InvalidURL, PyreqwestError, ValueError) as error:
            fault = self._fault(error, deadline)
        # Raised out here so that no traceback leads to the original, which may quote a URL or a header.
        raise fault

    async def aclose(self) -> None:
        """Close every connection; calls in flight end with a fault."""
        await self._client.close()

    async def _exchange(
        self, account: Account, request: WireRequest, headers: tuple[tuple[str, str], ...], deadline: float
    ) -> WireReply:
        outgoing = httpx.Request(
            request.method,
            _url(account.base_url + request.path),
            # As a stream: of content httpx would work out headers that hyper writes anyway.
            stream=httpx.ByteStream(request.body),
            headers=httpx.Headers([*request.headers, *account.headers, *headers], encoding="ascii"),
        )
        outgoing.headers.encoding = "ascii"  # or httpx would try what they are in
        ready = (
            self._client.request(outgoing.method, str(outgoing.url))
            .headers(outgoing.headers.multi_items())
            .body_bytes(outgoing.read())
            # pyreqwest reads 0 as "none".
            .timeout(timedelta(seconds=max(deadline, 0.001)))
        )
        async with ready.build_streamed() as incoming:
            body = bytes(await incoming.bytes())
        return WireReply(status=incoming.status, headers=_joined(incoming.headers), body=body)

    def _fault(self, error: Exception, deadline: float) -> TransportFault:
        """Tell the kind and the phase of a failed exchange."""
        origin = error.__cause__ if isinstance(error.__cause__, PyreqwestError) else error
        causes = _causes(origin)
        connecting = _NEVER_LEFT in causes
        if isinstance(origin, TimeoutError):
            if connecting:
                return TransportFault("timeout", "connect", f"no connection within {self._connect_timeout:g} s")
            return TransportFault("timeout", "sent", f"no complete reply within {deadline:g} s")
        if isinstance(origin, ValueError | httpx.InvalidURL):
            return TransportFault("network", "connect", "the URL or a header of the request is not valid")
        # The first cause quotes the URL, the last says what happened.
        what = causes[-1] if len(causes) > 1 else type(origin).__name__
        return TransportFault("network", "connect" if connecting else "sent", what)


def _joined(headers: HeaderMap) -> dict[str, str]:
    """Return headers by name in lower case; those that come several times are one list (RFC 9110, §5.3)."""
    joined: dict[str, str] = {}
    try:
        for name, value in headers.items():
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
    except ValueError:
        return {name: ", ".join(values) for name in headers if (values := _read(headers, name))}
    return joined


def _read(headers: HeaderMap, name: str) -> list[str]:
    """Return the values of one header; none where they hold more than ASCII, which pyreqwest cannot read."""
    try:
        return list(headers.getall(name))
    except ValueError:
        return []


def _client(connect_timeout: float) -> Client:
    return (
        ClientBuilder()
        .user_agent("turntide")
        .follow_redirects(False)
        .referer(False)
        .no_proxy()
        .connect_timeout(timedelta(seconds=connect_timeout))
        .pool_idle_timeout(timedelta(seconds=IDLE_S))
        .build()
    )


def _causes(error: BaseException) -> list[str]:
    if not isinstance(error, DetailedPyreqwestError):
        return []
    return [cause["message"] for cause in error.details["causes"] or []]

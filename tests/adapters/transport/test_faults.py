"""The table of faults that the transport had to pass to be chosen, and must pass to stay."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import time
from collections.abc import AsyncIterator, Generator
from typing import NamedTuple

import pytest
from turntide.adapters.base import TransportFault, WireRequest
from turntide.adapters.transport import HttpxTransport

from .conftest import AMPLE, CONNECT_TIMEOUT, DEADLINE, KEY, Post, Script, Serve

OK = b"HTTP/1.1 200 OK\r\n"
LENGTH_9 = OK + b"Content-Length: 9\r\n\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
PACKED = gzip.compress(b"an answer " * 50)


def gzipped(body: bytes) -> bytes:
    return OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


class Fault(NamedTuple):
    name: str
    script: Script
    kind: str
    says: str


SENT = [
    Fault("hang before the headers", ("read", "gone"), "timeout", "no complete reply within"),
    Fault("hang within the headers", ("read", OK + b"Content-Le", "gone"), "timeout", "no complete reply within"),
    Fault("hang within the body", ("read", LENGTH_9 + b"abc", "gone"), "timeout", "no complete reply within"),
    Fault("drip in the headers", ("read", OK + b"X: ", *(b"x", 0.03) * 30), "timeout", "no complete reply within"),
    Fault("drip in the body", ("read", LENGTH_9, *(b"x", 0.08) * 8), "timeout", "no complete reply within"),
    Fault("drop before the request is read", ("close",), "network", "."),
    Fault("drop before any byte of a reply", ("read", "close"), "network", "closed before message completed"),
    Fault("drop within the headers", ("read", OK + b"Content-Le", "close"), "network", "."),
    Fault("cut body with a length", ("read", LENGTH_9 + b"abc", "close"), "network", "end of file"),
    Fault("cut chunked body", ("read", CHUNKED + b"3\r\nabc\r\n", "close"), "network", "EOF"),
    Fault(
        "cut large body",
        ("read", OK + b"Content-Length: 999999\r\n\r\n" + b"x" * 500_000, 0.05, "close"),
        "network",
        ".",
    ),
    Fault("reset before a reply", ("read", "reset"), "network", "reset"),
    Fault("reset within the body", ("read", LENGTH_9 + b"abc", 0.05, "reset"), "network", "reset"),
    Fault("headers without end", ("read", OK + b"X: " + b"x" * 2_000_000), "network", "too large"),
    Fault("no HTTP at all", ("read", b"\x00\x01 what\r\n\r\n"), "network", "invalid HTTP"),
    Fault(
        "two lengths", ("read", OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"), "network", "content-length"
    ),
    Fault("corrupt gzip", ("read", gzipped(PACKED[:12] + b"\xff\xff" + PACKED[14:])), "network", "CRC"),
    Fault("gzip cut within a correct length", ("read", gzipped(PACKED[:-12])), "network", "end of file"),
]


@pytest.mark.parametrize("fault", SENT, ids=lambda fault: fault.name)
async def test_a_fault_after_the_send_is_told_as_sent_within_the_deadline(
    fault: Fault, serve: Serve, post: Post
) -> None:
    server = await serve(fault.script)
    began = time.monotonic()
    with pytest.raises(TransportFault, match=fault.says) as caught:
        await post(server.url, deadline=DEADLINE if fault.kind == "timeout" else AMPLE)
    assert (caught.value.kind, caught.value.phase) == (fault.kind, "sent")
    assert time.monotonic() - began < DEADLINE + 0.3
    assert server.connections == 1, "the transport retries nothing"


@contextlib.contextmanager
def refusing() -> Generator[str]:
    """A port that is bound and does not listen."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@contextlib.contextmanager
def full() -> Generator[str]:
    """A port whose backlog is full: the kernel drops every further SYN."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_a_refused_connection_never_left(post: Post) -> None:
    with refusing() as url, pytest.raises(TransportFault, match="refused") as caught:
        await post(url)
    assert (caught.value.kind, caught.value.phase) == ("network", "connect")


async def test_a_name_that_does_not_resolve_never_left(post: Post) -> None:
    with pytest.raises(TransportFault) as caught:
        await post("http://no-such-host.invalid/v1")
    assert caught.value.phase == "connect"


async def test_a_connection_that_never_opens_ends_at_its_own_time_out(post: Post) -> None:
    began = time.monotonic()
    with full() as url, pytest.raises(TransportFault, match="no connection within") as caught:
        await post(url)
    assert (caught.value.kind, caught.value.phase) == ("timeout", "connect")
    assert time.monotonic() - began < CONNECT_TIMEOUT + 0.3


async def test_a_deadline_that_ends_while_connecting_is_told_as_sent_because_it_cannot_be_known(post: Post) -> None:
    with full() as url, pytest.raises(TransportFault) as caught:
        await post(url, deadline=CONNECT_TIMEOUT / 2)
    assert (caught.value.kind, caught.value.phase) == ("timeout", "sent")


@pytest.mark.parametrize(
    "script", [(b"HTTP/1.1 400 plain text here\r\n\r\n", "gone"), ("gone",)], ids=["plain", "hang"]
)
async def test_a_failed_tls_handshake_never_left(script: Script, serve: Serve, post: Post) -> None:
    server = await serve(script)
    with pytest.raises(TransportFault) as caught:
        await post(server.url.replace("http:", "https:"))
    assert caught.value.phase == "connect"


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1", "http://", "http://[::1"])
async def test_a_url_that_cannot_be_posted_to_never_left(url: str, post: Post) -> None:
    with pytest.raises(TransportFault) as caught:
        await post(url)
    assert caught.value.phase == "connect"


async def test_a_body_that_the_server_does_not_read_ends_at_the_deadline(serve: Serve, post: Post) -> None:
    server = await serve((5.0,))
    with pytest.raises(TransportFault) as caught:
        await post(server.url, WireRequest(path="/", body=b"x" * 20_000_000), DEADLINE)
    assert (caught.value.kind, caught.value.phase) == ("timeout", "sent")


async def test_a_cancelled_call_returns_at_once_and_frees_its_wire_by_the_deadline(serve: Serve, post: Post) -> None:
    server = await serve(("read", "gone"))
    call = asyncio.ensure_future(post(server.url, deadline=DEADLINE))
    began = time.monotonic()
    await asyncio.wait_for(server.asked.wait(), 2.0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not server.left.is_set()
    await server.left.wait()
    assert time.monotonic() - began < DEADLINE + 0.3


async def test_closing_the_transport_ends_the_calls_in_flight(
    serve: Serve, post: Post, transport: HttpxTransport
) -> None:
    server = await serve(("read", "gone"))
    call = asyncio.ensure_future(post(server.url))
    await asyncio.wait_for(server.asked.wait(), 2.0)
    await transport.aclose()
    with pytest.raises(TransportFault) as caught:
        await asyncio.wait_for(call, 1.0)
    assert caught.value.phase == "sent"


@pytest.mark.parametrize("header", ["a\nb", "ü€", "\x00"])
async def test_no_fault_carries_the_key(header: str, serve: Serve, post: Post) -> None:
    faults = [fault async for fault in _faults_of(header, serve, post)]
    for fault in faults:
        assert fault.__context__ is None
        assert fault.__cause__ is None
        assert KEY not in repr(fault)
        assert KEY not in str(vars(fault))


async def _faults_of(header: str, serve: Serve, post: Post) -> AsyncIterator[TransportFault]:
    server = await serve(("read", "close"))
    requests = (
        WireRequest(path="/", body=b""),
        WireRequest(path="/", body=b"", headers=(("x-key", KEY + header),)),
        WireRequest(path=f"/?key={KEY}", body=b""),
    )
    for request in requests:
        with pytest.raises(TransportFault) as caught:
            await post(server.url, request=request)
        yield caught.value

"""What a reply brings back, and what the transport does not do with it."""

from __future__ import annotations

import asyncio
import gzip
import logging
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from turntide.adapters.base import Account, Secret, TransportFault
from turntide.adapters.transport import HttpxTransport

from .conftest import KEY, REQUEST, Post, Script, Serve

EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_reply_comes_back_whole_with_lower_case_headers(serve: Serve, post: Post) -> None:
    server = await serve(
        ("read", b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nno")
    )
    reply = await post(server.url)
    assert (reply.status, reply.body) == (429, b"no")
    assert reply.headers["retry-after"] == "7"
    assert reply.headers["x-a"] == "1, 2"


async def test_a_header_that_is_not_ascii_costs_no_reply(serve: Serve, post: Post) -> None:
    head = "HTTP/1.1 200 OK\r\nX-Organization: Müller\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\n"
    reply = await post((await serve(("read", head.encode("latin-1") + b"ok"))).url)
    assert (reply.status, reply.body) == (200, b"ok")
    assert reply.headers["x-a"] == "1, 2"
    assert "x-organization" not in reply.headers


async def test_the_request_carries_the_body_and_all_three_sets_of_headers(serve: Serve, post: Post) -> None:
    server = await serve(("read", ANSWER))
    await post(server.url)
    (head,) = server.heads
    assert head.startswith("POST /v1/chat HTTP/1.1\r\n")
    lines = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
    assert lines["content-type"] == "application/json"
    assert lines["authorization"] == f"bearer {KEY}"
    assert lines["content-length"] == str(len(REQUEST.body))
    assert lines["user-agent"] == "turntide"


REPLIES: dict[str, tuple[Script, int, bytes]] = {
    "no content": (("read", b"HTTP/1.1 204 No Content\r\n\r\n"), 204, b""),
    "empty": (("read", EMPTY), 200, b""),
    "gzip": (
        ("read", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello"), "close"),
        200,
        b"hello",
    ),
    "chunked": (("read", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), 200, b"ok"),
    "until the close": (("read", b"HTTP/1.1 200 OK\r\n\r\nok", "close"), 200, b"ok"),
    "16 KB of headers": (
        ("read", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 16_000 + b"\r\nContent-Length: 0\r\n\r\n"),
        200,
        b"",
    ),
    "more bytes than the length says": (("read", ANSWER + b" and more"), 200, b"ok"),
    "10 MB": (
        ("read", b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + b"x" * 10_000_000),
        200,
        b"x" * 10_000_000,
    ),
    "a reply to a request that was not read": ((b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno", 0.1), 401, b"no"),
}


@pytest.mark.parametrize(("script", "status", "body"), REPLIES.values(), ids=REPLIES.keys())
async def test_every_framing_of_a_body_is_read(
    script: Script, status: int, body: bytes, serve: Serve, post: Post
) -> None:
    server = await serve(script)
    reply = await post(server.url)
    assert (reply.status, reply.body) == (status, body)


async def test_a_redirect_is_returned_and_not_followed(serve: Serve, post: Post) -> None:
    server = await serve(("read", b"HTTP/1.1 307 T\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", "gone"))
    reply = await post(server.url)
    assert (reply.status, reply.headers["location"]) == (307, "/elsewhere")
    assert len(server.heads) == 1


async def test_no_cookie_is_kept(serve: Serve, post: Post) -> None:
    reply = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
    server = await serve(("read", reply, "read", reply))
    await post(server.url)
    await post(server.url)
    assert server.connections == 1
    assert not [head for head in server.heads if "cookie" in head.lower()]


async def test_no_proxy_is_taken_from_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server = await serve(("read", ANSWER))
    opened = HttpxTransport()
    reply = await opened.send(Account(provider="p", base_url=server.url, key=Secret("")), REQUEST, (), 2.0)
    assert reply.status == 200
    await opened.aclose()


async def test_a_connection_that_the_server_closed_while_idle_is_not_used_again(serve: Serve, post: Post) -> None:
    server = await serve(("read", ANSWER, "close"))
    for _ in range(20):
        assert (await post(server.url)).status == 200
        await asyncio.sleep(0.01)
    assert server.connections == 20


async def test_a_request_lost_on_a_reused_connection_is_told_as_sent_and_not_repeated(serve: Serve, post: Post) -> None:
    server = await serve(("read", ANSWER, "read", "close"))
    await post(server.url)
    with pytest.raises(TransportFault) as caught:
        await post(server.url)
    assert caught.value.phase == "sent"
    assert (server.connections, len(server.heads)) == (1, 2)


async def test_nothing_is_logged_that_holds_the_key(serve: Serve, post: Post, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = await serve(("read", ANSWER))
    await post(server.url)
    assert KEY not in caplog.text


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 6_000:
        pytest.skip("needs 6,000 open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 6_000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
async def test_two_thousand_in_flight_are_answered() -> None:
    crowd = _Crowd(2_000)
    server = await asyncio.get_running_loop().create_server(lambda: _Guest(crowd), "127.0.0.1", 0)
    account = Account(provider="p", base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", key=Secret(""))
    opened = HttpxTransport()
    replies = await asyncio.gather(*(opened.send(account, REQUEST, (), 20.0) for _ in range(crowd.size)))
    assert {reply.status for reply in replies} == {200}
    await opened.aclose()
    server.close()


class _Crowd:
    """Answers nobody until `size` are waiting: proof that so many were in flight at once."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._waiting: list[asyncio.Transport] = []

    def join(self, guest: asyncio.Transport) -> None:
        self._waiting.append(guest)
        if len(self._waiting) == self.size:
            for waiting in self._waiting:
                waiting.write(ANSWER)
                waiting.close()


class _Guest(asyncio.Protocol):
    def __init__(self, crowd: _Crowd) -> None:
        self._crowd = crowd
        self._seen = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._seen += data
        if self._seen.endswith(REQUEST.body):
            self._seen = b""
            self._crowd.join(self._transport)


def test_httpx_is_imported_in_one_module_only() -> None:
    root = Path(__file__).parents[3]
    sources = [path for part in ("adapters", "engine", "datasets", "results") for path in (root / part).rglob("*.py")]
    imports = re.compile(r"^\s*(import|from) (httpx|pyreqwest)", re.MULTILINE)
    importing = [path.name for path in sources if imports.search(path.read_text())]
    assert importing == ["transport.py"]

"""A provider that costs nearly nothing: one answer of 1 KB to whatever is asked, `delay` seconds after the last byte,
or the same failure.

It speaks just enough HTTP for kept connections, in a process of its own, so that the client is what is measured.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, cast

import orjson
import uvloop

TEXT: Final = "SELECT customer_id, SUM(freight) FROM orders GROUP BY customer_id -- and so on\n" * 9
ANSWER: Final = orjson.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "echo",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1500, "completion_tokens": 180, "total_tokens": 1680},
    }
)
FAILURE: Final = orjson.dumps({"error": {"message": "the server had an error", "type": "server_error"}})
_HEAD: Final = b"HTTP/1.1 %d -\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
_REPLIES: Final = {status: _HEAD % (status, len(body)) + body for status, body in ((200, ANSWER), (500, FAILURE))}
_LENGTH: Final = b"content-length: "


@contextmanager
def answering(delay: float, status: int = 200) -> Generator[str]:
    """Start the provider; yield its base URL, and stop it. Its status is 200 or 500."""
    command = [sys.executable, "-m", __name__, str(delay), str(status)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.kill()


class _Answering(asyncio.Protocol):
    """One connection: requests one after another, never two at once."""

    def __init__(self, delay: float, status: int) -> None:
        self._delay = delay
        self._reply = _REPLIES[status]
        self._seen = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass

    def data_received(self, data: bytes) -> None:
        self._seen += data
        head, ended, body = self._seen.partition(b"\r\n\r\n")
        if ended and len(body) >= int(head.lower().partition(_LENGTH)[2].partition(b"\r")[0]):
            self._seen = b""
            asyncio.get_running_loop().call_later(self._delay, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._reply)


async def _serve(delay: float, status: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Answering(delay, status), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(float(sys.argv[1]), int(sys.argv[2])))

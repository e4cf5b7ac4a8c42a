"""How the pool talks with its processes: frames with a worker, orders with the fork server."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import cast

ORDER = struct.Struct("!ii")
"""What goes between the pool and the fork server; see there."""

FORK = 1
KILL = 2

_PREFIX = 4


class Frames(asyncio.Protocol):
    """Cuts a byte stream into frames: four bytes of length, big-endian, then the content."""

    def __init__(self, *, received: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        self._received = received
        self._lost = lost
        self._buffer = bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport to send with."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand on every frame that is now whole."""
        self._buffer += data
        while len(self._buffer) >= _PREFIX:
            end = _PREFIX + int.from_bytes(self._buffer[:_PREFIX], "big")
            if len(self._buffer) < end:
                break
            frame = bytes(self._buffer[_PREFIX:end])
            del self._buffer[:end]
            self._received(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        """Say that the other side is gone."""
        self._lost()

    def send(self, content: bytes) -> None:
        """Queue one frame."""
        if self._transport is not None:
            self._transport.write(len(content).to_bytes(_PREFIX, "big") + content)

    def close(self) -> None:
        """Close the socket once what was queued is sent."""
        if self._transport is not None:
            self._transport.close()

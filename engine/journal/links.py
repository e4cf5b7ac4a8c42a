"""The links of the chain that a journal's lines are: the checksum of the line before, and its own."""

from __future__ import annotations

from typing import Final
from zlib import crc32

FIRST: Final = b"00000000"
"""What the first line names: there is none before it."""

SIZE: Final = len(b',"prev":"00000000","crc":"00000000"}\n')
_OWN: Final = len(b',"crc":"00000000"}\n')


def seal(body: bytes) -> bytes:
    """Return the whole line that `body`, up to its own checksum, makes."""
    return b'%b,"crc":"%08x"}\n' % (body, crc32(body))


def intact(raw: bytes) -> bool:
    """Return whether `raw` is a line as it was written, by its checksum."""
    return raw[-_OWN:] == b',"crc":"%08x"}\n' % crc32(raw[:-_OWN])


def follows(raw: bytes, previous: bytes) -> bytes | None:
    """Return the checksum of `raw` if it is intact and names `previous` as the one before: both in one comparison."""
    checksum = b"%08x" % crc32(raw[:-_OWN])
    return checksum if raw[-SIZE:] == b',"prev":"%b","crc":"%b"}\n' % (previous, checksum) else None


def links(raw: bytes) -> tuple[bytes, bytes]:
    """Return the checksum that the line `raw` names as the one before, and its own: nonsense where it is no line."""
    return raw[-28:-20], raw[-11:-3]

"""The links of the chain that a journal's lines are: the checksum of the line before, and its own."""

from __future__ import annotations

from typing import Final

FIRST: Final = b"00000000"
"""What the first line names: there is none before it."""

SIZE: Final = len(b',"prev":"00000000","crc":"00000000"}\n')


def links(raw: bytes) -> tuple[bytes, bytes]:
    """Return the checksum that the line `raw` names as the one before, and its own: nonsense where it is no line."""
    return raw[-28:-20], raw[-11:-3]

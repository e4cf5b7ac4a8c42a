"""A provider that runs on loopback: real HTTP, settable limits and faults, and models that read the prompt alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .config import Config, Limits, ModelConfig
from .process import SimulatedServer
from .reader import Misreader, Reader

if TYPE_CHECKING:
    from .server import serve

__all__ = ["Config", "Limits", "Misreader", "ModelConfig", "Reader", "SimulatedServer", "serve"]


def __getattr__(name: str) -> object:
    # `provider` is the entry point's object, the client's half of the protocol. A server never needs it, and who only
    # asks or holds a server's process needs none of the server: aiohttp alone takes a fifth of a second to import.
    if name == "provider":
        from .entry import provider

        return provider
    if name == "serve":
        from .server import serve

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

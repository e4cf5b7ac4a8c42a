"""A provider that runs on loopback: real HTTP, settable limits and faults, and models that read the prompt alone."""

from __future__ import annotations

from .config import Config, Limits, ModelConfig
from .process import SimulatedServer
from .reader import Misreader, Reader
from .server import serve

__all__ = ["Config", "Limits", "Misreader", "ModelConfig", "Reader", "SimulatedServer", "serve"]


def __getattr__(name: str) -> object:
    # `provider` is the entry point's object. It needs the client's half of the protocol, which a server never does.
    if name == "provider":
        from .entry import provider

        return provider
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""A real model on this machine: llama.cpp's own HTTP server on loopback, in a process of its own."""

from __future__ import annotations

from .models import MODELS, LocalModel
from .server import LocalServer

__all__ = ["MODELS", "LocalModel", "LocalServer"]

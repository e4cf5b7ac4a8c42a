"""Calls that travel in batches: slower, cheaper, and as sure on disk as those that go alone."""

from __future__ import annotations

from .lines import OpenBatches
from .office import Batching

__all__ = ["Batching", "OpenBatches"]

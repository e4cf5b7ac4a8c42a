"""Time as a value that tests can replace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]


def loop_time() -> float:
    """Return the running loop's clock, in seconds: monotonic, and the one that every timer of the engine obeys."""
    return asyncio.get_running_loop().time()

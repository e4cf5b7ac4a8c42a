"""How often Python looks for reference cycles while a run lasts, or a report is made."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

ALLOCATIONS: Final = 50_000
"""New objects before a look. Each look walks all that thousands of dialogues have just made and still need, which at
Python's usual 700 is every third call; cycles are rare here, so that waiting longer holds on to nearly nothing."""


@contextmanager
def seldom_collected() -> Generator[None]:
    """Collect more seldom until the end of the block."""
    usual = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)

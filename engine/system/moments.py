"""When something happened, told so that the time between two moments of a process is the time that passed.

The wall clock is asked once, when the process starts: one that is set meanwhile, by hand or by a time server, would let
runs end before they began. Time that a machine slept counts where its system tells (`CLOCK_BOOTTIME` does on Linux).
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_START: Final = time.time() - time.clock_gettime(_CLOCK)


def unix_now() -> float:
    """Return this moment in Unix seconds."""
    return _START + time.clock_gettime(_CLOCK)


def utc_now() -> datetime:
    """Return this moment, in UTC."""
    return datetime.fromtimestamp(unix_now(), UTC)


def written_now() -> str:
    """Return this moment as the journal writes it: UTC in ISO 8601, to the millisecond."""
    return utc_now().isoformat(timespec="milliseconds")

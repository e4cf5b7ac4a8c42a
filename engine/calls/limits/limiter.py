"""What the engine asks of an account's limits, whoever keeps them: this process alone, or several together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ....adapters.base import Fault, LimitHint


class Limiter(Protocol):
    """Learns from every reply what the account may send."""

    @property
    def bound(self) -> int:
        """How many calls may be in flight now."""
        ...

    @property
    def per_minute(self) -> float | None:
        """How many requests a minute may hold now; None where no limit is known."""
        ...

    def land(self, reserved: float, used: float | None) -> None:
        """A call came back or was given up; `used` tokens is None when nobody knows, and the reservation stands."""
        ...

    def answered(self) -> None:
        """The server answered: the bound may grow, a lowered rate may recover."""
        ...

    def pushed_back(self, fault: Fault, fallback: float) -> None:
        """The server asked for less: pause everyone until its time, or for `fallback` seconds where it named none."""
        ...

    def hinted(self, hints: Iterable[LimitHint]) -> None:
        """Take in what a reply's headers said of the limits."""
        ...

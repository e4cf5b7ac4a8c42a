"""Calls in flight: a fixed bound, or one that is found by additive increase and multiplicative decrease."""

from __future__ import annotations

from typing import Final

START: Final = 16
"""Where an adaptive bound begins; it doubles per round of successes until the server first pushes back."""

DECREASE: Final = 0.7


class Flight:
    """How many calls an account has on the wire, and how many it may have.

    With `adaptive` the bound starts low, doubles per round until the first push-back, and from then on grows by one
    per round and shrinks by `DECREASE` per push-back (additive increase, multiplicative decrease), never above
    `ceiling`.
    """

    def __init__(self, ceiling: int, *, adaptive: bool) -> None:
        self.ceiling = ceiling
        self.bound = min(START, ceiling) if adaptive else ceiling
        self.adaptive = adaptive
        self.now = 0
        self._probing = True
        self._successes = 0

    def full(self) -> bool:
        """Whether another call must wait for one to land."""
        return self.now >= self.bound

    def enter(self) -> None:
        """A call goes out."""
        self.now += 1

    def leave(self) -> None:
        """A call landed, was cut, or was given up."""
        self.now -= 1

    def success(self) -> bool:
        """Note an answer; return whether the bound grew."""
        if not self.adaptive or self.bound >= self.ceiling:
            return False
        self._successes += 1
        if self._successes < self.bound:
            return False
        self._successes = 0
        self.bound = min(self.ceiling, self.bound * 2 if self._probing else self.bound + 1)
        return True

    def push_back(self) -> bool:
        """Note that the server asked for less; return whether the bound shrank."""
        self._probing = False
        self._successes = 0
        if not self.adaptive or self.bound <= 1:
            return False
        self.bound = max(1, int(self.bound * DECREASE))
        return True

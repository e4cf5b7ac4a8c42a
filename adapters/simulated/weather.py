"""Faults that come together: rates alone would spread them evenly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from .chance import ordered
from .config import Fault, Storm
from .limits import Clock

Rates = Mapping[Fault, float]


class Weather:
    """Which faults strike now: those of the storm that is on, or what model or server have of their own."""

    def __init__(self, storms: Iterable[Storm], clock: Clock) -> None:
        self._storms = [(storm.every, storm.lasts, ordered(storm.faults, get_args(Fault))) for storm in storms]
        self._clock = clock
        self._began = clock()

    def faults(self, calm: Rates) -> Rates:
        """Return the rates of this moment: the first storm's that is on, else `calm`. A storm ends its own period."""
        if not self._storms:
            return calm
        age = self._clock() - self._began
        return next((faults for every, lasts, faults in self._storms if age % every >= every - lasts), calm)

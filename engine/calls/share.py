"""What one process does of a run, and with whom it shares the limits and the money: with nobody, as a rule."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final, Protocol

from ...adapters.base import Json
from ..closing import Closing
from ..journal import Line
from ..unit import Experiment
from .limits.account import AccountLimits, Limits
from .limits.clock import Clock
from .turnstile import OwnTurnstile, Purse, Turnstile


class Share(Protocol):
    """The seam between a run and whoever works on the same plan elsewhere (`engine.shards`)."""

    def identity(self) -> dict[str, Json]:
        """Return what tells this process's part of the plan from the others': it goes into the manifest."""
        ...

    def part(self, experiment: Experiment) -> Experiment:
        """Return the part of the plan that this process works on."""
        ...

    def turnstile(
        self, account: str, limits: Limits, purse: Purse, clock: Clock, changed: Callable[[Line], None]
    ) -> Turnstile:
        """Return the queue of one account, whose name is unique in the run; `changed` takes changes of its limits."""
        ...

    def working(self, purse: Purse, closing: Closing) -> AbstractAsyncContextManager[None]:
        """Be at work for the length of a context, with what earlier parts have spent in `purse`."""
        ...


class Alone:
    """The whole plan in one process: limits and money are its own."""

    def identity(self) -> dict[str, Json]:
        """Return nothing: there are no others."""
        return {}

    def part(self, experiment: Experiment) -> Experiment:
        """Return all of it."""
        return experiment

    def turnstile(
        self, account: str, limits: Limits, purse: Purse, clock: Clock, changed: Callable[[Line], None]
    ) -> Turnstile:
        """Return a queue that grants by itself."""
        return OwnTurnstile(AccountLimits(limits, clock, changed), purse, clock)

    def working(self, purse: Purse, closing: Closing) -> AbstractAsyncContextManager[None]:
        """There is nobody to tell."""
        return nullcontext()


ALONE: Final = Alone()

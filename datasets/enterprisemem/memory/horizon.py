"""What a turn may see, by plan order alone, so that the order in which sessions finish decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....adapters.base import ConfigurationError


@dataclass(frozen=True, slots=True)
class Horizon:
    """The view of the turn at `position`: everything before `before`, and its own session from `start` on.

    All three are plan positions in one condition-run, dense from 0, a session's turns in a row, and
    before <= start <= position.
    """

    before: int
    start: int
    position: int

    @property
    def sees_anything(self) -> bool:
        """Whether any turn is visible at all."""
        return self.before > 0 or self.start < self.position

    def sees(self, position: int) -> bool:
        """Whether the turn at `position` is visible."""
        return position < self.before or self.start <= position < self.position


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """How the sessions of a condition-run follow one another: `wave` at a time, or (None) sharing nothing."""

    wave: int | None

    @classmethod
    def parse(cls, text: str) -> SessionOrder:
        """Read `sequential` (the paper's §5.6: all earlier sessions), `waves:K` (all earlier waves) or `isolated`."""
        if text == "isolated":
            return cls(None)
        kind, _, size = text.partition(":")
        if text == "sequential":
            return cls(1)
        if kind == "waves" and size.isascii() and size.isdigit() and int(size) > 0:
            return cls(int(size))
        raise ConfigurationError(
            f"no session order is called {text!r}. Choose sequential, waves:K (K >= 1) or isolated."
        )

    def __str__(self) -> str:
        if self.wave is None:
            return "isolated"
        return "sequential" if self.wave == 1 else f"waves:{self.wave}"

    def horizon(self, starts: Sequence[int], session: int, turn: int) -> Horizon:
        """Return the view of turn `turn` (from 1) of session `session` (from 0).

        `starts` holds the plan position of every session's first turn, in plan order.
        """
        before = 0 if self.wave is None else starts[session // self.wave * self.wave]
        return Horizon(before, starts[session], starts[session] + turn - 1)

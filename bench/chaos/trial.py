"""What a trial is: something that is done to sweeps, and the invariants that are checked while it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line asks of every trial.

    `sessions` limits a sweep that is killed again and again, `kills` is how often it is; None leaves it to the trial.
    `quick` stands for the short forms, which show that a trial works.
    """

    seed: int
    kills: int | None
    sessions: int | None
    quick: bool


class CannotRunError(Exception):
    """This machine lacks what a trial needs; the message says what."""


@dataclass(slots=True)
class Invariant:
    """A claim, how often it was checked, how often it did not hold, and what was found the first time."""

    claim: str
    checked: int = 0
    failed: int = 0
    found: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as the file of results holds it."""
        return {"claim": self.claim, "checked": self.checked, "failed": self.failed, "found": self.found}


@dataclass(slots=True)
class Trial:
    """The record of one trial: what was done, what was measured, what was checked."""

    name: str
    tell: Callable[[str], None] = print
    measured: dict[str, Any] = field(default_factory=dict[str, Any])
    invariants: dict[str, Invariant] = field(default_factory=dict[str, Invariant])
    skipped: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every invariant held whenever it was checked."""
        return not any(invariant.failed for invariant in self.invariants.values())

    def say(self, text: str) -> None:
        """Tell what was done."""
        self.tell(f"  {text}")

    def skip(self, reason: str) -> None:
        """Tell why this trial, or a part of it, cannot be held here."""
        self.skipped.append(reason)
        self.tell(f"  skipped: {reason}")

    def check(self, claim: str, holds: bool, found: object = "") -> bool:
        """Check `claim` once more; `found` says what was seen in its place. Returns whether it holds."""
        invariant = self.invariants.setdefault(claim, Invariant(claim))
        invariant.checked += 1
        if not holds:
            invariant.failed += 1
            invariant.found = invariant.found or str(found)[:MOST_FOUND]
        return holds

    def to_json(self) -> dict[str, Any]:
        """Return it as the file of results holds it."""
        return {
            "trial": self.name,
            "passed": self.passed,
            "seconds": round(self.seconds, 1),
            "skipped": self.skipped,
            "measured": self.measured,
            "invariants": [invariant.to_json() for invariant in self.invariants.values()],
        }


MOST_FOUND: Final = 2000
"""Characters of what was found that are kept: the last words of a process may be long."""

Hold: TypeAlias = Callable[[Asked, Trial], None]
"""Holds a trial: does what it is about, and checks. Raises CannotRunError."""

"""Options that more than one command takes, and their checks."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path


def at_least(smallest: int) -> Callable[[str], int]:
    """Return a converter for whole numbers from `smallest` on."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < smallest:
            raise argparse.ArgumentTypeError(f"{number} is too small: at least {smallest}")
        return number

    return convert


def positive(text: str) -> float:
    """Convert a number above zero."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} must be above zero, and have an end")
    return number


def not_negative(text: str) -> float:
    """Convert a number from zero on."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} must be a number from zero on")
    return number


def dollars(text: str) -> str:
    """Convert an amount of money; it stays text, so that no cent is lost."""
    from ..spec import usd

    try:
        return usd(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def place(text: str) -> Path:
    """Convert the name of a file or folder; no name at all, as of a variable that is not set, is not this folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name: say where")
    return Path(text)


def assignment(text: str) -> tuple[str, str]:
    """Convert NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def model_id(text: str) -> str:
    """Convert `provider/model`."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]+/\S+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not provider/model (for example openai/gpt-5-mini)")
    return text


def moment(text: str, now: datetime | None = None) -> datetime:
    """Convert HH:MM (its next occurrence on this machine's clock) or an ISO date and time to a moment in the future.

    A moment without an offset is local time. One that the clock shows twice is the first to come; one that it skips is
    what the clock shows then: 02:30 becomes 03:30. `now` is for tests.
    """
    now = now or datetime.now(UTC)
    try:
        if re.fullmatch(r"\d{1,2}:\d{2}", text):
            return _next(time.fromisoformat(text.zfill(5)), now)
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a time (07:30) nor a date and time (2026-12-01T07:30)"
        ) from None
    if found.astimezone(UTC) <= now:
        raise argparse.ArgumentTypeError(f"{text} has passed")
    return found.astimezone(UTC)


def _next(clock: time, now: datetime) -> datetime:
    """Return the first moment after `now` at which the local clock shows `clock`."""
    today = now.astimezone().date()
    return min(at for days in range(3) for at in _shown(today + timedelta(days=days), clock) if at > now)


def _shown(day: date, clock: time) -> list[datetime]:
    """Return when the local clock shows `clock` on `day`: once, twice, or, where it is skipped, as if it were not."""
    both = [datetime.combine(day, clock.replace(fold=fold)).astimezone(UTC) for fold in (0, 1)]
    return [at for at in both if at.astimezone().time() == clock] or [max(both)]

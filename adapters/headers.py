"""What reply headers say of waiting and of limits, in the spellings that providers use."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Literal

from .base import LimitHint

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_STEP = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ms|[smhd])")
_COUNT = re.compile(r"[0-9]{1,15}")


def duration(text: str) -> float | None:
    """Return the seconds in `1m12.5s`, `6m0s`, `20ms`, `1d2h` or a plain number of seconds; None for anything else."""
    text = text.strip()
    steps = list(_STEP.finditer(text))
    if steps and "".join(step[0] for step in steps) == text:
        return sum(float(step[1]) * _UNITS[step[2]] for step in steps)
    return _number(text)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return how many seconds the server asks to wait, or None when it does not say.

    The first that can be read wins: `retry-after-ms`, `retry-after` in seconds or as an HTTP date (RFC 9110, §10.2.3;
    `now` in Unix seconds), then the `x-ratelimit-reset-*` of the resources that are used up; where none is marked so,
    the earliest reset. A moment that has passed is 0.
    """
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after", "")
    if (seconds := _number(asked)) is not None:
        return seconds
    if (moment := _http_date(asked)) is not None:
        return max(0.0, moment - now)
    return _reset(headers)


def limit_hint(headers: Mapping[str, str], resource: Literal["requests", "tokens"]) -> LimitHint | None:
    """Return what the `x-ratelimit-*` headers say of `resource`, or None when they are silent."""
    limit, remaining = (_count(headers.get(f"x-ratelimit-{part}-{resource}", "")) for part in ("limit", "remaining"))
    reset = duration(headers.get(f"x-ratelimit-reset-{resource}", ""))
    if limit is None and remaining is None and reset is None:
        return None
    return LimitHint(resource=resource, limit=limit, remaining=remaining, reset=reset)


def _reset(headers: Mapping[str, str]) -> float | None:
    hints = [hint for name in ("requests", "tokens") if (hint := limit_hint(headers, name)) is not None]
    spent = [hint.reset for hint in hints if hint.remaining == 0 and hint.reset is not None]
    return max(spent) if spent else min((hint.reset for hint in hints if hint.reset is not None), default=None)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _count(text: str) -> int | None:
    return int(text) if _COUNT.fullmatch(text.strip()) else None


def _http_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        # A date without a zone is in GMT, whatever this machine's zone is.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None

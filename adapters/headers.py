"""Headers in the spellings that providers use: what a reply's say of waiting and of limits, and how a key travels."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, TypeAlias

from .base import LimitHint, Secret

Resource: TypeAlias = Literal["requests", "tokens"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_STEP = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ms|[smhd])")
_RATES: dict[Resource, tuple[str, str, str]] = {
    "requests": ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    "tokens": ("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
}
_RATE_NAMES = frozenset(name for names in _RATES.values() for name in names)
_WAITS = _RATE_NAMES | {"retry-after-ms", "retry-after", "x-ratelimit-reset"}
"""Names that most replies do not carry: every reply passes here, and a look at all of them at once is quick."""
_COUNT = re.compile(r"[0-9]{1,15}")
SKEW = 30.0
"""Seconds by which two clocks must differ to be taken for wrong: a reply may take some to arrive."""
_UNIX_MS = 1e12
"""A larger number is a moment in milliseconds since 1970, and no number of seconds to wait."""


def duration(text: str) -> float | None:
    """Return the seconds in `1m12.5s`, `6m0s`, `20ms`, `1d2h` or a plain number of seconds; None for anything else."""
    text = text.strip()
    steps = list(_STEP.finditer(text))
    if steps and "".join(step[0] for step in steps) == text:
        return sum(float(step[1]) * _UNITS[step[2]] for step in steps)
    return _number(text)


def server_time(headers: Mapping[str, str], now: float) -> float:
    """Return the server's time in Unix seconds, by which the moments that it names are meant.

    That is `now`, unless the reply's own date (RFC 9110, §6.6.1) says that one of the two clocks is wrong, and waiting
    for a moment could take hours. It tells of the reply's first byte, in whole seconds: less than `SKEW` means nothing.
    """
    date = _http_date(headers.get("date", ""))
    return now if date is None or abs(date - now) < SKEW else date


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return how many seconds the server asks to wait, or None when it does not say.

    The first that can be read wins: `retry-after-ms`, `retry-after` in seconds or as an HTTP date (RFC 9110, §10.2.3;
    `now` in Unix seconds), OpenRouter's `x-ratelimit-reset` (a moment in Unix milliseconds), then the
    `x-ratelimit-reset-*` as `until_reset` reads them. A moment that has passed is 0.
    """
    if _WAITS.isdisjoint(headers):
        return None
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after", "")
    if (seconds := _number(asked)) is not None:
        return seconds
    if (moment := _http_date(asked)) is not None:
        return max(0.0, moment - server_time(headers, now))
    if (milliseconds := _number(headers.get("x-ratelimit-reset", ""))) is not None and milliseconds > _UNIX_MS:
        return max(0.0, milliseconds / 1000 - server_time(headers, now))
    return until_reset(rate_hints(headers))


def until_reset(hints: Sequence[LimitHint]) -> float | None:
    """Return the seconds until all that is used up is there again; where nothing is marked so, the earliest reset."""
    spent = [hint.reset for hint in hints if hint.remaining == 0 and hint.reset is not None]
    return max(spent) if spent else min((hint.reset for hint in hints if hint.reset is not None), default=None)


def bearer(key: Secret) -> tuple[tuple[str, str], ...]:
    """Return the header that carries a key at OpenAI and whoever copied it, or nothing without a key."""
    return (("authorization", f"Bearer {key.reveal()}"),) if key else ()


def rate_hints(headers: Mapping[str, str], *, requests_window: float = 60.0) -> tuple[LimitHint, ...]:
    """Return what the `x-ratelimit-*` headers say of requests and tokens."""
    if _RATE_NAMES.isdisjoint(headers):
        return ()
    found = (limit_hint(headers, "requests", window=requests_window), limit_hint(headers, "tokens"))
    return tuple(hint for hint in found if hint is not None)


def limit_hint(headers: Mapping[str, str], resource: Resource, *, window: float = 60.0) -> LimitHint | None:
    """Return what the `x-ratelimit-*` headers say of `resource` per `window` seconds, or None when they are silent."""
    limit, remaining, reset = (headers.get(name, "") for name in _RATES[resource])
    return hint_of(resource, limit, remaining, duration(reset), window=window)


def hint_of(
    resource: Resource, limit: str, remaining: str, reset: float | None, *, window: float = 60.0
) -> LimitHint | None:
    """Return the hint that two counts and a reset in seconds give, or None when none of them says anything."""
    hint = LimitHint(resource=resource, limit=_count(limit), remaining=_count(remaining), reset=reset, window=window)
    return None if hint.limit is hint.remaining is hint.reset is None else hint


def timestamp(text: str) -> float | None:
    """Return the Unix seconds of an RFC 3339 moment (`2026-11-30T12:00:00Z`); None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.timestamp() if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


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

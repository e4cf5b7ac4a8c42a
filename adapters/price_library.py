"""Prices out of pydantic's `genai-prices`, where it is installed, for models that no table of ours or the user's names.

Its prices change with its releases and have no day of their own, so that they come last. It documents no longest
answer: under a cap such a model needs `max_tokens`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final, TypeAlias

PROVIDERS: Final = {
    **{name: name for name in ("openai", "anthropic", "google", "deepseek", "together", "groq", "openrouter")},
    "xai": "x-ai",
}
"""Our providers by the names that they have there."""

CLASSES: Final = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}
_PER_CALL: Final = "requests_kcount"

Untyped: TypeAlias = Any


Row: TypeAlias = dict[str, object]
"""A price as a row of a price file has it."""


def look_up(model: str, on: date) -> Row | None:
    """Return what `provider/id` costs in the dearest hour of a day, or None where the library cannot say.

    A price by the call cannot be held against tokens: such a model counts as unknown.
    """
    provider, _, name = model.partition("/")
    if provider not in PROVIDERS:
        return None
    try:
        snapshot: Untyped = import_module("genai_prices.data_snapshot").get_snapshot()
        _, entry = snapshot.find_provider_model(name, None, PROVIDERS[provider], None)
    except (ImportError, LookupError):
        return None
    hours = [entry.get_prices(datetime.combine(on, time(hour), UTC)) for hour in range(24)]
    if any(getattr(prices, _PER_CALL, None) for prices in hours):
        return None
    rates = _dearest(hours, _base)
    if not {"input", "output"} <= rates.keys():
        return None
    row: Row = {"models": [model], "from": on, "source": f"genai-prices {version('genai-prices')}", **rates}
    if tiers := [tier.start for prices in hours for tier in _tiers(prices)]:
        row["long"] = {"above": min(tiers), **_dearest(hours, _longest)}
    return row


def _dearest(hours: Iterable[Untyped], rate: Callable[[Untyped], Decimal]) -> dict[str, Decimal]:
    """Return the highest rate of each class that has one: a cap rests on an upper bound."""
    found: dict[str, Decimal] = {}
    for prices in hours:
        for name, theirs in CLASSES.items():
            if (value := getattr(prices, theirs, None)) is not None:
                found[name] = max(rate(value), found.get(name, Decimal(0)))
    return found


def _base(value: Untyped) -> Decimal:
    return value if isinstance(value, Decimal) else value.base


def _longest(value: Untyped) -> Decimal:
    return value if isinstance(value, Decimal) else max(value.base, *(tier.price for tier in value.tiers))


def _tiers(prices: Untyped) -> list[Untyped]:
    values = [getattr(prices, name, None) for name in CLASSES.values()]
    return [tier for value in values if value is not None for tier in getattr(value, "tiers", ())]

"""What keeps a call within what is reserved for it: options that would let it cost more are refused before a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final, get_args

from .base import ConfigurationError, Json
from .openai_chat import MaxTokensField

LENGTHS: Final = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"})
SEVERAL: Final = frozenset({"n", "best_of", "candidateCount", "candidate_count", "num_return_sequences"})
TOOLS: Final = frozenset({"tools", "web_search_options", "plugins"})
DEARER: Final[Mapping[str, frozenset[Json]]] = {
    "service_tier": frozenset({"priority"}),
    "ttl": frozenset({"1h"}),
}
"""Values of members that make tokens dearer than the price table says, which holds the standard tier's prices."""


def check_options(model: str, options: Mapping[str, Json]) -> None:
    """Raise ConfigurationError for an option that nobody takes, or that undoes the bound on what a call can cost."""
    for name, value in options.items():
        if expected := _expected(name, value):
            raise ConfigurationError(f"{model}: `{name}` is {expected}, not {value!r}.")
    extra = options.get("extra")
    for why in _beyond(extra) if isinstance(extra, dict) else ():
        raise ConfigurationError(f"{model}: {why}")


def _expected(name: str, value: Json) -> str:
    """Return what the option `name` must be where `value` is not."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    match name:
        case "max_tokens" if not (isinstance(number, int) and number >= 1):
            return "a whole number of tokens from 1 up"
        case "seed" if not isinstance(number, int):
            return "a whole number"
        case "temperature" if not 0 <= number < math.inf:
            return "a number from 0 up"
        case "max_tokens_field" if value not in get_args(MaxTokensField):
            return " or ".join(get_args(MaxTokensField))
        case "extra" if not isinstance(value, dict):
            return "a table"
        case _:
            return ""


def _beyond(members: Mapping[str, Json]) -> Iterator[str]:
    """Yield why members of `extra`, at any depth, would let a call cost more than is reserved for it."""
    for name, value in members.items():
        if name in LENGTHS:
            yield f"`{name}` in `extra` would undo the bound on what a call can cost: use the option `max_tokens`."
        elif name in SEVERAL and value != 1:
            yield f"`{name}` in `extra` asks for several answers, of which one is read and all are paid: leave it out."
        elif name in TOOLS:
            yield f"`{name}` in `extra` is billed beside the tokens, and no answer is read from it: leave it out."
        elif isinstance(value, str) and value in DEARER.get(name, ()):
            yield f"`{name}` = {value!r} in `extra` costs more than the price table knows: leave it out."
        elif isinstance(value, dict):
            yield from _beyond(value)

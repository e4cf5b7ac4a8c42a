"""What each model accepts, and what is therefore sent: options resolved, and refused, before a run starts.

`models.toml` beside this file is the table; docs/models.md is its reference. Nothing is ever left out silently: an
option that a model does not take is a ConfigurationError.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from .base import ConfigurationError, Json
from .bounds import check_options
from .modelids import fitting, spellings

SHIPPED: Final = Path(__file__).with_name("models.toml")

_VARIANT: Final = re.compile(r"(?P<model>[^@]*/.+)@(?P<variant>[a-z][a-z0-9-]*)")
_SPELLINGS: Final = frozenset({"api", "api_version", "extra", "system_role", "max_tokens_field"})
"""Options that say how to write a request, not what the model is to do: the format judges them, not this table."""

Accepted = Literal["max_tokens", "seed", "json_schema"]
Temperature = Literal["always", "without reasoning", "never"]


class Capability(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the models named by `models` accept, where `source` says so.

    Without `accepts` nothing is checked. `efforts`, `thinking` and `thinking_budget` (least and most tokens) are the
    values of the options `reasoning_effort`, `thinking` and `thinking_budget`. `reasoning` is what the model does when
    none of them is sent; "none" is no reasoning. `sends` are options that are sent unless others are asked for, and
    `variants` options to choose by name. From `retired` on the provider answers no more, or with another model.
    """

    models: tuple[str, ...]
    source: str
    accepts: tuple[Accepted, ...] | None = None
    temperature: Temperature = "always"
    efforts: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    thinking_budget: tuple[int, int] | None = None
    reasoning: str = ""
    max_output: int | None = None
    retired: date | None = None
    sends: dict[str, Any] = {}
    variants: dict[str, dict[str, Any]] = {}

    def refusal(self, options: Mapping[str, Json]) -> str:
        """Return why a model does not take these options, as the end of a sentence; "" when it does."""
        if self.accepts is None:
            return ""
        for name, value in options.items():
            if name not in _SPELLINGS and (why := self._refuses(name, value, options)):
                return why
        return ""

    def reasons(self, options: Mapping[str, Json]) -> bool:
        """Whether a model reasons under these options, as far as the table knows."""
        if isinstance(budget := options.get("thinking_budget"), int):
            return budget != 0
        if isinstance(thinking := options.get("thinking"), str):
            return thinking != "disabled"
        if isinstance(effort := options.get("reasoning_effort"), str) and not self.thinking:
            return effort != "none"
        return self.reasoning != "none"

    def _refuses(self, name: str, value: Json, options: Mapping[str, Json]) -> str:
        match name:
            case "temperature":
                return self._refuses_temperature(options)
            case "reasoning_effort":
                return _outside(name, value, self.efforts)
            case "thinking":
                return _outside(name, value, self.thinking)
            case "thinking_budget":
                return self._refuses_budget(value, options)
            case "max_tokens" if self.max_output and isinstance(value, int) and value > self.max_output:
                return f"writes at most {self.max_output:,} tokens, not `max_tokens` = {value:,}"
            case _:
                return "" if self.accepts and name in self.accepts else f"does not accept `{name}`"

    def _refuses_temperature(self, options: Mapping[str, Json]) -> str:
        if self.temperature == "never":
            return "does not accept `temperature`"
        if self.temperature == "without reasoning" and self.reasons(options):
            return "does not accept `temperature` while it reasons"
        return ""

    def _refuses_budget(self, value: Json, options: Mapping[str, Json]) -> str:
        if self.thinking_budget is None:
            return "does not accept `thinking_budget`"
        least, most = self.thinking_budget
        if not isinstance(value, int) or not least <= value <= most:
            return f"takes a `thinking_budget` from {least:,} to {most:,}, not {value}"
        limit = options.get("max_tokens")
        if isinstance(limit, int) and value >= limit:
            return f"would think for {value:,} tokens and have no more left for an answer (`max_tokens` = {limit:,})"
        return ""


class Preset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line-up of models by name."""

    name: str
    source: str
    models: tuple[str, ...]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    model: tuple[Capability, ...]
    preset: tuple[Preset, ...]


class Resolved(NamedTuple):
    """A model as it will be asked: its id without a variant, and every option that goes with each question."""

    id: str
    options: dict[str, Json]


def resolve(choice: str, options: Mapping[str, Json]) -> Resolved:
    """Return what `provider/model` or `provider/model@variant` with `options` of the user's own comes to.

    The user's options go before the variant's, and those before what the model always gets; resolving again changes
    nothing. ConfigurationError for a variant that does not exist, an option that the model does not accept, or one that
    would let a call cost more than is reserved for it.
    """
    model, variant = split(choice)
    known = capability(model)
    sent: dict[str, Json] = {**(known.sends if known else {}), **_variant(model, variant, known), **options}
    check_options(model, sent)
    if known and (why := known.refusal(sent)):
        raise ConfigurationError(f"{model} {why}. Leave it out for this model, or choose another (docs/models.md).")
    return Resolved(model, sent)


def split(choice: str) -> tuple[str, str]:
    """Return the model and the variant that a choice names; the variant is "" where it names none."""
    found = _VARIANT.fullmatch(choice)
    return (found["model"], found["variant"]) if found else (choice, "")


def capability(model: str) -> Capability | None:
    """Return what is known of `provider/model`, by its longest pattern; None for a model that stands nowhere."""
    for name in spellings(model):
        if fits := fitting(name, ((entry.models, entry) for entry in _table().model)):
            return max(fits, key=lambda fit: fit[0])[1]
    return None


def preset(name: str) -> tuple[str, ...]:
    """Return the models of a line-up, each as `resolve` takes it; ConfigurationError lists what there is."""
    line_ups = {entry.name: entry.models for entry in presets()}
    if name not in line_ups:
        raise ConfigurationError(f"no preset is called {name!r}; there are {', '.join(sorted(line_ups))}.")
    return line_ups[name]


def presets() -> tuple[Preset, ...]:
    """Return all line-ups."""
    return _table().preset


def notice(model: str, on: date) -> str:
    """Return what to know of a model before it is asked on that day, or ""."""
    known = capability(model)
    if known is None or known.retired is None or known.retired > on:
        return ""
    return (
        f"{model}: its provider retired it on {known.retired}. It will fail, or another model will answer; "
        "the report compares the id that comes back."
    )


def _variant(model: str, name: str, known: Capability | None) -> dict[str, Any]:
    variants = known.variants if known else {}
    if not name:
        return {}
    if name not in variants:
        there_are = f"it has {', '.join(sorted(variants))}" if variants else "it has none"
        raise ConfigurationError(f"{model} has no variant {name!r}; {there_are} (docs/models.md).")
    return variants[name]


def _outside(name: str, value: Json, values: tuple[str, ...]) -> str:
    if not values:
        return f"does not accept `{name}`"
    return "" if value in values else f"takes `{name}` {', '.join(values)}, not {value!r}"


@cache
def _table() -> _Table:
    return msgspec.toml.decode(SHIPPED.read_bytes(), type=_Table)

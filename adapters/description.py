"""A model's reasoning configuration in words, for the reports that must state it beside the scores.

EnterpriseMem-Bench, §7.4: the reasoning configuration is a variable of the method like temperature and decoding.
"""

from __future__ import annotations

from collections.abc import Mapping

from .base import Json
from .capabilities import Capability, capability
from .wirejson import canonical, encode


def describe(model: str, options: Mapping[str, Json]) -> str:
    """Return how `provider/model` reasons and samples under the options that were sent with its questions.

    For example "adaptive thinking, effort medium; temperature not sent; max_tokens 16,000". What was left to the
    provider is marked so, with its documented default.
    """
    parts = [reasoning(model, options)]
    temperature = options.get("temperature")
    parts.append("temperature not sent" if temperature is None else f"temperature {temperature}")
    if isinstance(limit := options.get("max_tokens"), int):
        parts.append(f"max_tokens {limit:,}")
    parts.extend(f"{name} {options[name]}" for name in ("seed", "api") if name in options)
    if extra := options.get("extra"):
        parts.append(f"extra {encode(canonical(extra)).decode()}")
    return "; ".join(parts)


def reasoning(model: str, options: Mapping[str, Json]) -> str:
    """Return how `provider/model` reasons under these options: the part of `describe` that stands beside scores."""
    known = capability(model)
    thinking, effort = _thinking(options), options.get("reasoning_effort")
    if thinking:
        return f"{thinking}, effort {effort}" if effort else thinking
    if effort == "none":
        return "no reasoning (effort none)"
    if effort and known and known.thinking:
        return f"{_default(known)}, effort {effort}"
    return f"reasoning effort {effort}" if effort else _default(known)


def _thinking(options: Mapping[str, Json]) -> str:
    """Return what the options say of thinking, or "" when they are silent."""
    budget = options.get("thinking_budget")
    if isinstance(budget, int):
        return {0: "no reasoning (thinking budget 0)", -1: "dynamic thinking"}.get(
            budget, f"extended thinking, budget {budget:,} tokens"
        )
    match options.get("thinking"):
        case "disabled":
            return "no reasoning (thinking disabled)"
        case "adaptive":
            return "adaptive thinking"
        case str(other):
            return f"thinking {other}"
        case _:
            return ""


def _default(known: Capability | None) -> str:
    """Return what the provider does by itself."""
    if known is None or not known.reasoning:
        return "reasoning left to the provider (its default is not known here)"
    what = "no reasoning" if known.reasoning == "none" else known.reasoning
    return f"{what} (the provider's default)"

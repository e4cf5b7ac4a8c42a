"""What a simulated provider can be told, as validated data (docs/simulated-provider.md is its reference)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct

from ..base import ConfigurationError
from ..wirejson import without_bom
from .latency import latency

DEFAULT_PORT = 8377

Rate: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(gt=0)]

Mistake = Literal["wrong", "preamble", "fence", "syntax", "empty", "cut", "refuse", "filter", "substitute", "unmetered"]
"""What a model does to its own answer, drawn once per prompt: a client takes it for the answer and never retries it."""

Fault = Literal[
    "429", "500", "502", "503", "529",
    "stall", "late", "drip", "reset", "reset-unread", "torn", "malformed", "duplicate",
]  # fmt: skip
"""What the provider does to one attempt, drawn anew for each: a retry gets through in the end."""

UNREAD: Fault = "reset-unread"
"""The one fault that strikes before the model is known, so it belongs to the server alone."""

_Config = TypeVar("_Config", bound="Behaviour")


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of one account; None is no limit.

    An allowance refills steadily and holds at most what `window` seconds bring: 60 lets a whole minute's worth
    come at once, 1 enforces the limit second by second. `quota` is how many calls are answered before the account
    is exhausted for good. Without `headers` no reply tells of requests and tokens, as with many providers.
    """

    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    concurrent: Positive | None = None
    quota: Count | None = None
    window: Annotated[float, Meta(gt=0, le=3600)] = 60.0
    headers: bool = True


class Batches(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the batch APIs behave."""

    seconds: float | str = 0.0
    """How long a batch takes: seconds, or a distribution (`latency.latency`)."""
    expire: Rate = 0.0
    """Share of the items that a batch does not come to before it expires."""
    error: Rate = 0.0
    """Share of the items that end in a 500 of their own."""
    lost: Rate = 0.0
    """Share of the batches that are made, but whose maker never hears of it: the connection is reset."""

    def __post_init__(self) -> None:
        if self.expire + self.error > 1:
            raise ValueError("the rates of expired and erring items must sum to at most 1")
        try:
            latency(self.seconds)
        except ConfigurationError as error:
            raise ValueError(str(error)) from None


class Storm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A time of trouble that comes again: the last `lasts` seconds of each `every` since the server started."""

    every: Annotated[float, Meta(gt=0)]
    lasts: Annotated[float, Meta(gt=0)]
    faults: dict[Fault, Rate]
    """What strikes while it lasts, in place of the faults of server and models."""

    def __post_init__(self) -> None:
        if self.lasts > self.every:
            raise ValueError("a storm cannot last longer than the time from one to the next")
        if math.fsum(self.faults.values()) > 1:
            raise ValueError("the rates of a storm's faults must sum to at most 1")


class Behaviour(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How models answer. None is "as the server", and on the server the plain default that is named here."""

    seed: int | None = None
    """Seeds mistakes, faults and latencies. Default 0."""
    mistakes: dict[Mistake, Rate] | None = None
    """Rate by kind; at most one kind per answer, so the rates sum to at most 1. Default none."""
    faults: dict[Fault, Rate] | None = None
    """Rate by kind; at most one kind per attempt. Default none."""
    latency: float | str | None = None
    """Seconds, or a distribution (`latency.latency`). Default 0."""
    limits: Limits | None = None
    """Models without limits of their own share the server's. Default unlimited."""
    context_tokens: Positive | None = None
    """Longest prompt plus `max_tokens`; beyond it the request is refused. Default unlimited."""
    reasoning_tokens: Count | None = None
    """Counted as output before each answer, inside `max_tokens`. Default 0."""
    cached_share: Rate | None = None
    """Share of the input tokens that is reported as cached. Default 0."""

    def __post_init__(self) -> None:
        for name, rates in (("mistakes", self.mistakes), ("faults", self.faults)):
            if rates and math.fsum(rates.values()) > 1:
                raise ValueError(f"the rates of {name} must sum to at most 1")
        if self.latency is not None:
            try:
                latency(self.latency)
            except ConfigurationError as error:
                raise ValueError(str(error)) from None

    def under(self: _Config, server: Behaviour) -> _Config:
        """Return a copy in which whatever is unset is as the server has it."""
        unset = {name: getattr(server, name) for name in Behaviour.__struct_fields__ if getattr(self, name) is None}
        return msgspec.structs.replace(self, **unset)


class ModelConfig(Behaviour, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named model: which reader answers, what that reader is made with, and how it behaves."""

    reader: str
    settings: dict[str, object] = {}

    def varied(self, query: str) -> ModelConfig:
        """Return the variant that a name's `?wrong=0.1&seed=7` asks for. Raises ValueError that says what is wrong.

        Every mistake, fault, and single-valued setting may be given so; any other name is a setting of the reader.
        """
        changes: dict[str, object] = {}
        settings = dict(self.settings)
        mistakes: dict[str, object] = {**self.mistakes} if self.mistakes else {}
        faults: dict[str, object] = {**self.faults} if self.faults else {}
        for name, value in parse_qsl(query, keep_blank_values=True, strict_parsing=True):
            if name in Mistake.__args__:
                mistakes[name] = value
            elif name in Fault.__args__ and name != UNREAD:
                faults[name] = value
            elif name in ("seed", "latency", "context_tokens", "reasoning_tokens", "cached_share"):
                changes[name] = value
            elif name == UNREAD or name in Behaviour.__struct_fields__:
                raise ValueError(f"a model's name cannot set {name!r}")
            else:
                settings[name] = value
        plain = msgspec.to_builtins(self) | {"settings": settings, "mistakes": mistakes, "faults": faults} | changes
        return msgspec.convert(plain, ModelConfig, strict=False)


class Config(Behaviour, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole simulated provider."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 0
    """0 takes a free port."""
    allow_remote: bool = False
    """Whether a host other than loopback may be bound."""
    key: str | None = None
    """The key that requests must carry; None accepts any."""
    models: dict[str, ModelConfig] = {}
    """Models by name; every reader is also a model under its own name."""
    batches: Batches = Batches()
    """How the batch APIs behave."""
    storms: tuple[Storm, ...] = ()
    """Times of trouble; where two meet, the first in this list rules."""
    retry_after: Seconds = 1.0
    """What a 429 fault asks the client to wait."""
    late_after: Seconds = 90.0
    """How long a `late` answer takes."""
    drip_every: Seconds = 1.0
    """Between two bytes of a dripping reply."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, model in self.models.items():
            if "?" in name:
                raise ValueError(f"the model's name {name!r} may not hold a question mark: settings follow it")
            if UNREAD in (model.faults or {}):
                raise ValueError(f"{UNREAD} strikes before the model is known: set it for the server, not for {name}")


def load(path: Path) -> Config:
    """Read a configuration from a `.toml` or `.json` file, or raise ConfigurationError that names the place."""
    decode = msgspec.json.decode if path.suffix == ".json" else msgspec.toml.decode
    try:
        return decode(without_bom(path.read_bytes()), type=Config)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: {error}") from None


def configured(values: Mapping[str, object]) -> Config:
    """Return the configuration that plain values describe, or raise ConfigurationError."""
    try:
        return msgspec.convert(values, Config, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"simulated provider: {error}") from None

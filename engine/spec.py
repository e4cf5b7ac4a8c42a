"""What a user asks for: a run's specification, from a TOML file or from the command line."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, cast

import msgspec

from ..adapters.base import ConfigurationError, Json

Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
NotNegative: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=86_400)]
Rate: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]
_TAKEN: Final = ("", "all")
"""Labels that name nobody, or more than one model."""
MOST_REPEATS: Final = 1000
"""Of EnterpriseMem-Bench's whole sweep that is 7.5 million dialogues: more than a plan is walked through in."""
MOST_SHARDS: Final = 1000
_USD: Final = r"^\d{1,9}(\.\d{1,12})?$"


class ModelSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model of the sweep: `id` is `provider/model` or `provider/model@variant`; `label` names it in reports.

    `options` are sent with every question (`max_tokens`, `temperature`, …; docs/models.md) and are part of the run's
    identity; the limits are not.
    """

    id: str
    label: str = ""
    options: dict[str, Any] = {}
    rpm: Rate | None = None
    tpm: Rate | None = None
    in_flight: Positive | None = None

    @property
    def name(self) -> str:
        """The label, or the id."""
        return self.label or self.id


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may change between two parts of a run, since it never enters a request.

    `max_cost` in USD; `concurrency`: dialogues at once per model; `in_flight`: calls on the wire per account; time-outs
    in seconds; `retries`: after faults, the first after about `backoff` seconds; `max_errors`: failed
    dialogues after which a model is parked; `sql_workers` 0: one per core; `seed_from`: the folder of a run whose
    answers are taken over where the request is the same; `batch`: calls travel through the providers' batch APIs, all
    dialogues in lock-step; `on`: what runs the shards, if there are any.
    """

    max_cost: Annotated[str, msgspec.Meta(pattern=_USD)] | None = None
    concurrency: Positive = 64
    in_flight: Positive = 256
    rpm: Rate | None = None
    tpm: Rate | None = None
    attempt_timeout: Seconds = 300.0
    retries: NotNegative = 5
    max_errors: Positive | None = None
    backoff: Seconds = 1.0
    sql_timeout: Seconds = 30.0
    sql_workers: Annotated[int, msgspec.Meta(ge=0, le=64)] = 0
    prices: str = ""
    seed_from: str = ""
    batch: bool = False
    on: Literal["process", "ray"] = "process"

    @property
    def cap(self) -> Decimal | None:
        """The most that the run may cost, in USD; None without a cap."""
        return None if self.max_cost is None else Decimal(self.max_cost)


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run. `options` are the benchmark's own; all but `settings` and `out` is the run's identity.

    `shards`: into how many runs, each in a process of its own, the plan is cut (docs/shards.md).
    """

    benchmark: str
    models: list[ModelSpec]
    options: dict[str, Any] = {}
    repeats: Positive = 1
    seed: NotNegative = 0
    limit: Positive | None = None
    shards: Positive | None = None
    settings: Settings = Settings()
    out: str = ""

    def __post_init__(self) -> None:
        for name, number, most in (("repeats", self.repeats, MOST_REPEATS), ("shards", self.shards, MOST_SHARDS)):
            if number and number > most:
                raise ValueError(f"{number:,} {name} are more than a plan can hold: at most {most:,}")
        names = [model.name for model in self.models]
        if not names:
            raise ValueError("at least one model is needed")
        if unfit := [name for name in names if name.strip().casefold() in _TAKEN]:
            raise ValueError(
                f"a model is labelled {unfit[0]!r}, and reports name models by their labels, all of them together by "
                "'all': choose another one"
            )
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"the model {twice[0]!r} is named twice; give one of them a label of its own")
        if self.settings.on != "process" and not self.shards:
            raise ValueError(f"{self.settings.on} runs shards: say how many (--shards N, or shards = N)")


T = TypeVar("T")


def load(path: Path) -> Spec:
    """Read a specification from a TOML file (docs/spec.md); raises ConfigurationError that names the field."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot read the specification: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"{path}: nested too deeply to be a specification") from None
    try:
        plain = _plain(data)
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    return checked(plain, Spec, str(path))


def usd(amount: str | int | Decimal) -> str:
    """Return an amount of money as text, to the last digit; raises ValueError when nobody can spend it."""
    try:
        text = format(Decimal(amount.removeprefix("$") if isinstance(amount, str) else amount), "f")
    except InvalidOperation:
        text = ""
    if not re.match(_USD, text):
        raise ValueError(f"{str(amount)!r} is not an amount in USD that can be spent, such as 20 or 12.50")
    return text


def _plain(value: object, place: str = "") -> object:
    """Return what TOML holds as a specification holds it: decimal numbers as floats, but the cap as text, to the digit.

    Raises ValueError that names the place of a number that is none, or that cannot be spent.
    """
    if place == "settings.max_cost" and isinstance(value, int | str | Decimal) and not isinstance(value, bool):
        try:
            return usd(value)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    match value:
        case dict():
            fields = cast("dict[str, object]", value)
            return {name: _plain(item, f"{place}.{name}".strip(".")) for name, item in fields.items()}
        case list():
            return [_plain(item, f"{place}[{at}]") for at, item in enumerate(cast("list[object]", value))]
        case Decimal():
            if not math.isfinite(number := float(value)):
                raise ValueError(f"{place}: {value} is not a number")
            return number
        case _:
            return value


def texts(value: Json) -> Iterator[str]:
    """Yield every text in a JSON value: of a benchmark's options, any may be the path of a file."""
    match value:
        case str():
            yield value
        case dict():
            yield from chain.from_iterable(map(texts, value.values()))
        case list():
            yield from chain.from_iterable(map(texts, value))
        case _:
            pass


def checked(data: object, shape: type[T], where: str) -> T:
    """Return `data` as a `shape`; raises ConfigurationError that names the field and what was expected."""
    try:
        return msgspec.convert(data, shape)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{where}: {error}") from None

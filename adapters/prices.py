"""What calls cost: dated, sourced prices as validated data, and the upper bound that a budget reserves.

`prices.toml` beside this file is the table that ships; a user's file of the same form goes before it. Amounts are USD
per million tokens in Decimal, and stay Decimal to the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import msgspec

from .base import ConfigurationError, Usage
from .modelids import fitting, spellings
from .price_library import look_up
from .wirejson import without_bom

SHIPPED = Path(__file__).with_name("prices.toml")

_MILLION = Decimal(1_000_000)


class UnknownPrice(ConfigurationError):
    """A cap on the money needs a price, and the tables have none for this model."""

    def __init__(self, model: str, why: str) -> None:
        super().__init__(f"{model}: {why}. Give its price in a file (--prices FILE), or run without a cap.")


class Rates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """USD per million tokens by class. A class without a rate of its own costs what plain input does."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None

    def __post_init__(self) -> None:
        for rate in (self.input, self.output, self.cached_input, self.cache_write):
            if rate is not None and not (rate.is_finite() and rate >= 0):
                raise ValueError(f"a rate is a number from 0 up, not {rate}")

    def cost(self, usage: Usage) -> Decimal:
        """Return the USD that `usage` costs."""
        plain = usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write is None else self.cache_write
        whole = (
            self.input * plain
            + cached * usage.cached_tokens
            + written * usage.cache_write_tokens
            + self.output * usage.output_tokens
        )
        return whole / _MILLION

    def most(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return the USD that so many tokens can cost at most, whatever class the input falls into."""
        dearest = max(self.input, self.cached_input or self.input, self.cache_write or self.input)
        return (dearest * input_tokens + self.output * output_tokens) / _MILLION


class LongContext(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rates of the whole call when its input exceeds `above` tokens."""

    above: int


class Price(Rates, frozen=True, kw_only=True, rename={"since": "from"}, forbid_unknown_fields=True):
    """What the models named by `models` cost from the day `since` on; `source` says where that was read, and when.

    `models` are `provider/id`, with `*` for any run of characters. `max_output` is the documented maximum of output
    tokens, the bound where a call sends no `max_tokens`.
    """

    models: tuple[str, ...]
    since: date
    source: str
    max_output: int | None = None
    long: LongContext | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.models or not self.source:
            raise ValueError("a price names its models and its source")
        if self.max_output is not None and self.max_output < 1:
            raise ValueError("max_output is at least 1")

    def cost(self, usage: Usage) -> Decimal:
        """Return the USD that a call with `usage` costs."""
        if self.long is not None and usage.input_tokens > self.long.above:
            return self.long.cost(usage)
        return super().cost(usage)

    def worst_case(self, body_bytes: int, max_output_tokens: int | None = None) -> Decimal:
        """Return an upper bound in USD for a request of `body_bytes` bytes.

        Every byte counts as a token of the dearest input class, and the output as `max_output_tokens`, reasoning
        inside it (where that is None, `max_output`). The JSON around each message outweighs the tokens that a chat
        template adds. Raises UnknownPrice when nothing bounds the output.
        """
        output = self.max_output if max_output_tokens is None else max_output_tokens
        if output is None:
            raise UnknownPrice(self.models[0], "its largest output is not documented, so that a cap needs max_tokens")
        bound = self.most(body_bytes, output)
        if self.long is not None and body_bytes > self.long.above:
            bound = max(bound, self.long.most(body_bytes, output))
        return bound

    def scaled(self, factor: Decimal) -> Price:
        """Return the price at which every class costs `factor` of what it does here."""
        long = None if self.long is None else msgspec.structs.replace(self.long, **_times(self.long, factor))
        return msgspec.structs.replace(self, long=long, **_times(self, factor))


def _times(rates: Rates, factor: Decimal) -> dict[str, Decimal | None]:
    classes: dict[str, Decimal | None] = {name: getattr(rates, name) for name in Rates.__struct_fields__}
    return {name: None if rate is None else rate * factor for name, rate in classes.items()}


class BatchRate(msgspec.Struct, frozen=True, kw_only=True, rename={"since": "from"}, forbid_unknown_fields=True):
    """What a call costs in a batch, as a share `factor` of its usual price, from the day `since` on."""

    models: tuple[str, ...]
    since: date
    source: str
    factor: Decimal

    def __post_init__(self) -> None:
        if not self.models or not self.source:
            raise ValueError("a batch rate names its models and its source")
        if not (self.factor.is_finite() and self.factor >= 0):
            raise ValueError(f"a factor is a number from 0 up, not {self.factor}")


FREE = Price(models=("*",), since=date.min, source="a free provider", input=Decimal(0), output=Decimal(0), max_output=1)
"""The price at a provider that bills nothing."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    price: tuple[Price, ...] = ()
    batch: tuple[BatchRate, ...] = ()


class PriceTable:
    """Prices by model and day; earlier files go before later ones."""

    def __init__(self, files: Sequence[_File]) -> None:
        self._files = files

    @classmethod
    def load(cls, *own: Path) -> PriceTable:
        """Return the table that ships, with the user's `own` files before it; ConfigurationError names a bad one."""
        return cls([_read(path) for path in (*own, SHIPPED)])

    def price(self, model: str, on: date, *, free: bool = False) -> Price:
        """Return what `model` (`provider/id`) costs on the day `on`, or raise UnknownPrice.

        A user's price holds for a `free` provider too; without one it costs nothing. The longest pattern that matches
        wins, an id as written before its family (the id without a date at its end), and of one pattern the newest that
        has begun. A model that no file names is looked up in `genai-prices`, where that is installed.
        """
        for file in self._files:
            for name in spellings(model):
                if found := _best(file.price, name, on):
                    return found
        if free:
            return FREE
        if not self._names(model) and (row := look_up(model, on)):
            return msgspec.convert(row, Price)
        raise UnknownPrice(model, f"no price is known on {on}")

    def batch_price(self, model: str, on: date, *, free: bool = False) -> Price:
        """Return what `model` costs in a batch: its whole price where no batch rate is known, which is never too low.

        Raises UnknownPrice as `price` does.
        """
        whole = self.price(model, on, free=free)
        for file in self._files:
            for name in spellings(model):
                if found := _best(file.batch, name, on):
                    return whole.scaled(found.factor)
        return whole

    def _names(self, model: str) -> bool:
        entries = [(price.models, price) for file in self._files for price in file.price]
        return any(fitting(name, entries) for name in spellings(model))


_Dated = TypeVar("_Dated", Price, BatchRate)


def _best(entries: Iterable[_Dated], name: str, on: date) -> _Dated | None:
    begun = ((entry.models, entry) for entry in entries if entry.since <= on)
    return max(fitting(name, begun), key=lambda fit: (fit[0], fit[1].since), default=(0, None))[1]


def _read(path: Path) -> _File:
    try:
        return msgspec.toml.decode(without_bom(path.read_bytes()), type=_File)
    except OSError as error:
        raise ConfigurationError(f"the price file {path} cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise ConfigurationError(f"the price file {path} is not valid: {error}") from None

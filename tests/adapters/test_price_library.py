"""Prices from genai-prices: behind every file, never below what may be paid, and absent without harm."""

from __future__ import annotations

import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
from turntide.adapters.base import Usage
from turntide.adapters.price_library import PROVIDERS, look_up
from turntide.adapters.prices import Price, PriceTable, UnknownPrice
from turntide.adapters.providers import openai

pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")
DAY = date(2026, 11, 30)
UNLISTED = "openai/gpt-4.1-nano"
"""A model whose price the library knows, and our own table does not."""


def test_a_model_that_no_file_names_is_priced_by_the_library() -> None:
    price = PriceTable.load().price(UNLISTED, DAY)
    assert price.source.startswith("genai-prices ")
    assert 0 < price.input < price.output
    assert price.max_output is None
    with pytest.raises(UnknownPrice, match="needs max_tokens"):
        price.worst_case(1000)


def test_a_file_goes_before_the_library(tmp_path: Path) -> None:
    from genai_prices import Usage as TheirUsage
    from genai_prices import calc_price

    assert not PriceTable.load().price("openai/gpt-4o", DAY).source.startswith("genai-prices ")
    (tmp_path / "mine.toml").write_text(
        f'[[price]]\nmodels = ["{UNLISTED}"]\nfrom = 2020-01-01\nsource = "mine"\ninput = "7"\noutput = "9"\n'
    )
    assert PriceTable.load(tmp_path / "mine.toml").price(UNLISTED, DAY).input == 7
    theirs = calc_price(TheirUsage(input_tokens=1000, output_tokens=500), "gpt-4.1-nano", provider_id="openai")
    ours = PriceTable.load().price(UNLISTED, DAY).cost(Usage(input_tokens=1000, output_tokens=500))
    assert ours == theirs.total_price


def test_a_long_call_costs_the_dearest_tier_and_is_within_its_bound() -> None:
    row = look_up("google/gemini-2.5-pro", DAY)
    price = msgspec.convert(row, Price)
    assert price.long
    assert price.long.above == 200_000
    assert (price.long.input, price.long.output) > (price.input, price.output)
    usage = Usage(input_tokens=300_000, output_tokens=1000)
    assert price.cost(usage) == (price.long.input * 300_000 + price.long.output * 1000) / Decimal(10**6)
    assert price.cost(usage) <= price.worst_case(300_000, 1000)


@pytest.mark.parametrize("model", ["openai/no-such-model", "compatible/gpt-4o", "nowhere/gpt-4o"])
def test_what_the_library_does_not_know_stays_unknown(model: str) -> None:
    with pytest.raises(UnknownPrice):
        PriceTable.load().price(model, DAY)


def test_without_the_library_such_a_model_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices.data_snapshot", None)
    assert look_up(UNLISTED, DAY) is None


def test_every_provider_that_is_mapped_is_known_there() -> None:
    from genai_prices.data_snapshot import get_snapshot

    assert set(PROVIDERS.values()) <= {provider.id for provider in get_snapshot().providers}
    assert openai.name in PROVIDERS

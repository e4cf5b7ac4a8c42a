"""Prices: which one holds, what a call costs, and that the reserved bound is a bound."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import ConfigurationError, Usage
from turntide.adapters.prices import FREE, LongContext, Price, PriceTable, UnknownPrice

TODAY = date(2026, 11, 30)
SHIPPED = PriceTable.load()

PAPERS = """
openai/gpt-5-mini openai/gpt-5.2 openai/gpt-5.1 openai/gpt-4o-2024-11-20 openai/gpt-5.4 openai/o3-mini openai/o4-mini
anthropic/claude-sonnet-4-5-20250929 anthropic/claude-sonnet-4-6 anthropic/claude-opus-4-6
google/gemini-2.5-flash xai/grok-4-fast-non-reasoning xai/grok-4-1-fast-reasoning alibaba/qwen2.5-72b-instruct
alibaba/qwen-max groq/llama-3.3-70b-versatile deepseek/deepseek-chat deepseek/deepseek-v4-pro
"""


@pytest.mark.parametrize("model", PAPERS.split())
def test_every_model_of_the_papers_has_a_price(model: str) -> None:
    price = SHIPPED.price(model, TODAY)
    assert 0 < price.input < price.output
    assert price.source


@pytest.mark.parametrize(
    ("model", "on", "rate"),
    [
        ("openai/gpt-5-mini-2025-08-07", TODAY, "0.25"),
        ("openai/gpt-4o-2024-05-13", TODAY, "5.00"),
        ("openai/gpt-4o-2024-08-06", TODAY, "2.50"),
        ("openai/gpt-4o-latest", TODAY, "2.50"),
        ("xai/grok-4-fast-reasoning-latest", TODAY, "0.20"),
        ("deepseek/deepseek-v4-flash", date(2026, 8, 15), "0.14"),
        ("deepseek/deepseek-v4-flash", date(2026, 8, 16), "0.44"),
        ("deepseek/deepseek-v4-flash", date(2026, 9, 10), "0.30"),
    ],
)
def test_a_price_is_found_by_family_and_day(model: str, on: date, rate: str) -> None:
    assert SHIPPED.price(model, on).input == Decimal(rate)


@pytest.mark.parametrize(
    ("model", "on"),
    [
        ("openai/gpt-5-minimal", TODAY),
        ("openai/gpt-99", TODAY),
        ("other/gpt-5-mini", TODAY),
        ("openai/gpt-5-mini", date(2025, 8, 6)),
    ],
)
def test_an_unknown_price_is_an_error_that_names_the_way_out(model: str, on: date) -> None:
    with pytest.raises(UnknownPrice, match=r"--prices FILE.*without a cap"):
        SHIPPED.price(model, on)


def write(folder: Path, text: str) -> Path:
    path = folder / "prices.toml"
    path.write_text(text)
    return path


ENTRY = """[[price]]
models = ["sim/*", "openai/gpt-5-mini"]
from = 2020-01-01
input = "1"
output = "4"
source = "mine"
"""


def test_a_users_file_goes_before_the_table_and_prices_free_providers_too(tmp_path: Path) -> None:
    table = PriceTable.load(write(tmp_path, ENTRY))
    assert table.price("openai/gpt-5-mini-2025-08-07", TODAY).source == "mine"
    assert table.price("sim/reader", TODAY, free=True).input == 1
    assert table.price("openai/gpt-5.2", TODAY).input == Decimal("1.75")


def test_a_free_provider_costs_nothing() -> None:
    price = SHIPPED.price("local/anything", TODAY, free=True)
    assert price is FREE
    assert price.worst_case(1_000_000) == price.cost(Usage(input_tokens=10**9, output_tokens=10**9)) == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('"1"', '"-1"'), "a rate is a number from 0 up"),
        (('"1"', '"NaN"'), "a rate is a number from 0 up"),
        (('"1"', '"cheap"'), r"Invalid decimal string.*\$.price\[0\].input"),
        (("input", "inptu"), "inptu"),
        (('source = "mine"', ""), "source"),
        (('source = "mine"', 'source = ""'), "its source"),
        (('"sim/*", "openai/gpt-5-mini"', ""), "names its models"),
        (("2020-01-01", '"someday"'), "from"),
        (("[[price]]", "[[price"), "not valid"),
        (('output = "4"', 'output = "4"\nmax_output = 0'), "max_output"),
    ],
)
def test_a_bad_price_file_is_refused_with_the_place(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=says) as caught:
        PriceTable.load(write(tmp_path, ENTRY.replace(*change)))
    assert "prices.toml" in str(caught.value)


def test_a_missing_price_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml cannot be read"):
        PriceTable.load(tmp_path / "none.toml")


def test_each_class_of_tokens_is_charged_at_its_own_rate() -> None:
    price = SHIPPED.price("anthropic/claude-opus-4-6", TODAY)
    usage = Usage(input_tokens=1000, cached_tokens=600, cache_write_tokens=300, output_tokens=50, reasoning_tokens=40)
    assert price.cost(usage) == Decimal("0.003925")  # 100 x 5 + 600 x 0.5 + 300 x 6.25 + 50 x 25, per million


def test_long_input_is_charged_at_the_long_rates_as_a_whole() -> None:
    price = SHIPPED.price("openai/gpt-5.4", TODAY)
    assert price.cost(Usage(input_tokens=272_000)) == Decimal("0.68")
    assert price.cost(Usage(input_tokens=300_000, cached_tokens=100_000)) == Decimal("1.05")


def test_without_max_tokens_the_documented_maximum_bounds_the_output() -> None:
    assert SHIPPED.price("openai/o3-mini", TODAY).worst_case(1_000_000) == Decimal("1.54")
    assert SHIPPED.price("openai/o3-mini", TODAY).worst_case(1_000_000, 1_000) == Decimal("1.1044")
    with pytest.raises(UnknownPrice, match="needs max_tokens"):
        SHIPPED.price("xai/grok-4-fast", TODAY).worst_case(1000)


rates = st.decimals(0, 1000, places=4)
maybe = st.none() | rates


classes = {"input": rates, "output": rates, "cached_input": maybe, "cache_write": maybe}
prices = st.builds(
    Price,
    models=st.just(("p/m",)),
    since=st.just(TODAY),
    source=st.just("drawn"),
    long=st.none() | st.builds(LongContext, above=st.integers(0, 5000), **classes),
    **classes,
)


@given(prices, st.data())
def test_no_usage_within_the_bounds_costs_more_than_the_worst_case(price: Price, data: st.DataObject) -> None:
    size, most = data.draw(st.integers(0, 10_000)), data.draw(st.integers(0, 10_000))
    tokens = data.draw(st.integers(0, size))
    cached = data.draw(st.integers(0, tokens))
    usage = Usage(
        input_tokens=tokens,
        cached_tokens=cached,
        cache_write_tokens=data.draw(st.integers(0, tokens - cached)),
        output_tokens=data.draw(st.integers(0, most)),
    )
    assert 0 <= price.cost(usage) <= price.worst_case(size, most)


@pytest.mark.parametrize("model", ["openai/gpt-5.4", "anthropic/claude-opus-4-6-20260205"])
def test_a_batch_costs_half_of_every_class_and_of_long_contexts(model: str) -> None:
    whole, batched = SHIPPED.price(model, TODAY), SHIPPED.batch_price(model, TODAY)
    usage = Usage(input_tokens=300_000, cached_tokens=1000, cache_write_tokens=500, output_tokens=7000)
    for used in (usage, Usage(input_tokens=10, output_tokens=3)):
        assert batched.cost(used) == whole.cost(used) / 2
    assert batched.worst_case(300_000, 100) == whole.worst_case(300_000, 100) / 2


def test_a_batch_without_a_known_rate_costs_the_whole_price() -> None:
    assert SHIPPED.batch_price("xai/grok-4-fast", TODAY) == SHIPPED.price("xai/grok-4-fast", TODAY)
    assert SHIPPED.batch_price("local/any", TODAY, free=True).input == 0
    with pytest.raises(UnknownPrice):
        SHIPPED.batch_price("openai/nobody", TODAY)


def test_a_batch_rate_of_ones_own_goes_before_ours_and_holds_from_its_day(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[[batch]]\nmodels = ["openai/*"]\nfrom = 2027-01-01\nfactor = "0.25"\nsource = "mine"\n')
    table = PriceTable.load(file)
    whole = SHIPPED.price("openai/gpt-5", TODAY).input
    assert table.batch_price("openai/gpt-5", TODAY).input == whole / 2
    assert table.batch_price("openai/gpt-5", date(2027, 1, 1)).input == whole / 4

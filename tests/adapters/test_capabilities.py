"""What is sent is decided, and refused, before anything is sent; and every configuration has its sentence."""

from __future__ import annotations

import json
import tomllib
from datetime import date
from importlib.metadata import entry_points
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import ConfigurationError, Json, Message, Question
from turntide.adapters.capabilities import SHIPPED, capability, notice, preset, presets, resolve, split
from turntide.adapters.description import describe
from turntide.adapters.prices import PriceTable, UnknownPrice
from turntide.adapters.provider import Provider

PROVIDERS: dict[str, Any] = {entry.name: entry.load() for entry in entry_points(group="turntide.adapters")}
CHOICES = [model for entry in presets() for model in entry.models]


@pytest.mark.parametrize(
    ("choice", "parts"),
    [
        ("openai/gpt-5", ("openai/gpt-5", "")),
        ("anthropic/claude-sonnet-4-5@thinking", ("anthropic/claude-sonnet-4-5", "thinking")),
        ("together/meta-llama/Llama-3.3@no-thinking", ("together/meta-llama/Llama-3.3", "no-thinking")),
        ("compatible/@cf/meta/llama", ("compatible/@cf/meta/llama", "")),
        ("compatible/claude-sonnet-4@20250514", ("compatible/claude-sonnet-4@20250514", "")),
    ],
)
def test_a_variant_stands_behind_the_model(choice: str, parts: tuple[str, str]) -> None:
    assert split(choice) == parts


def body_of(choice: str, **options: Json) -> Any:
    """Return what a model's own format sends for a choice."""
    model, sent = resolve(choice, options)
    provider, _, name = model.partition("/")
    host = PROVIDERS[provider]
    assert isinstance(host, Provider)
    api = sent.pop("api", None)
    wire = host.speaking(str(api)).wire if api else host.wire
    messages = (Message("system", "s"), Message("user", "u"))
    return json.loads(wire.build(Question(model=name, messages=messages, options=sent)).body)


PAPERS: dict[str, dict[str, Any]] = {
    # EnterpriseMem-Bench, §5.4
    "anthropic/claude-sonnet-4-5-20250929@thinking": {"thinking": {"type": "enabled", "budget_tokens": 5000}},
    "anthropic/claude-sonnet-4-6@adaptive": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
    "anthropic/claude-opus-4-6@adaptive": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
    "openai/gpt-5-mini-2025-08-07": {},
    "openai/gpt-5.2-2025-12-11": {},
    # TIDE-Bench, Table 10
    "google/gemini-2.5-flash@no-thinking": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
    "deepseek/deepseek-v4-flash@no-thinking": {"thinking": {"type": "disabled"}},
    "xai/grok-4-1-fast-reasoning": {},
    "openai/o4-mini": {},
}
ALWAYS = {"model", "messages", "system", "max_tokens", "contents", "systemInstruction"}


@pytest.mark.parametrize("choice", PAPERS)
def test_the_papers_configurations_are_sent_as_the_papers_state_them(choice: str) -> None:
    sent = body_of(choice)
    assert {name: value for name, value in sent.items() if name not in ALWAYS} == PAPERS[choice]
    assert "temperature" not in str(sent)


def test_the_papers_line_ups_are_complete() -> None:
    sizes = {entry.name: len(entry.models) for entry in presets()}
    assert sizes == {"enterprisemem-paper": 5, "enterprisemem-paper-standard": 3, "tide-paper": 12}
    assert set(PAPERS) <= set(CHOICES)
    with pytest.raises(ConfigurationError, match="no preset is called 'x'; there are enterprisemem-paper, "):
        preset("x")


@pytest.mark.parametrize("choice", CHOICES)
def test_every_model_of_a_line_up_can_be_asked_and_is_priced(choice: str) -> None:
    body_of(choice)
    model, options = resolve(choice, {})
    assert PriceTable.load().price(model, date(2026, 11, 30)).input > 0
    assert "not known" not in describe(model, options)


@pytest.mark.parametrize("choice", CHOICES)
def test_resolving_again_changes_nothing(choice: str) -> None:
    once = resolve(choice, {})
    assert resolve(once.id, once.options) == once


@given(st.sampled_from(CHOICES), st.integers(1, 200_000))
def test_what_was_asked_for_is_sent_or_refused_and_never_dropped(choice: str, limit: int) -> None:
    known = capability(split(choice)[0])
    assert known is not None
    longest = known.max_output or limit
    thinks = known.variants.get(split(choice)[1], {}).get("thinking_budget", 0)
    if thinks < limit <= longest:
        assert resolve(choice, {"max_tokens": limit}).options["max_tokens"] == limit
    else:
        with pytest.raises(ConfigurationError, match="max_tokens"):
            resolve(choice, {"max_tokens": limit})


@pytest.mark.parametrize(
    ("choice", "options", "says"),
    [
        ("openai/gpt-5-mini", {"temperature": 0}, "openai/gpt-5-mini does not accept `temperature`"),
        ("openai/gpt-5.2", {"temperature": 0, "reasoning_effort": "low"}, "`temperature` while it reasons"),
        ("openai/gpt-5.2", {"reasoning_effort": "minimal"}, "none, low, medium, high, xhigh, not 'minimal'"),
        ("openai/gpt-4o-2024-11-20", {"reasoning_effort": "low"}, "does not accept `reasoning_effort`"),
        ("openai/gpt-4o", {"max_tokens": 20_000}, "at most 16,384 tokens"),
        ("openai/gpt-5-mini", {"thinking_budget": 5000}, "does not accept `thinking_budget`"),
        ("anthropic/claude-sonnet-4-5", {"thinking": "adaptive"}, "takes `thinking` disabled, not 'adaptive'"),
        ("anthropic/claude-sonnet-4-5", {"reasoning_effort": "low"}, "does not accept `reasoning_effort`"),
        ("anthropic/claude-sonnet-4-5@thinking", {"max_tokens": 4000}, "no more left for an answer"),
        ("anthropic/claude-sonnet-4-5@thinking", {"temperature": 0}, "`temperature` while it reasons"),
        ("anthropic/claude-sonnet-4-6@adaptive", {"temperature": 0}, "`temperature` while it reasons"),
        ("anthropic/claude-sonnet-4-6", {"thinking_budget": 10}, "from 1,024 to 127,999, not 10"),
        ("anthropic/claude-sonnet-4-6", {"seed": 1}, "does not accept `seed`"),
        ("google/gemini-2.5-flash", {"thinking_budget": 30_000}, "from -1 to 24,576"),
        ("deepseek/deepseek-v4-flash", {"temperature": 0}, "`temperature` while it reasons"),
        ("groq/llama-3.3-70b-versatile", {"json_schema": {}}, "does not accept `json_schema`"),
        ("openai/gpt-5@quickly", {}, "no variant 'quickly'; it has responses"),
        ("local/anything@thinking", {}, "no variant 'thinking'; it has none"),
    ],
)
def test_what_a_model_does_not_accept_is_refused_with_the_reason(
    choice: str, options: dict[str, Json], says: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve(choice, options)
    assert says in str(caught.value)
    assert "docs/models.md" in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "options"),
    [
        ("openai/gpt-5.2", {"temperature": 0}),
        ("openai/gpt-5.2@reasoning", {}),
        ("anthropic/claude-sonnet-4-6", {"temperature": 0}),
        ("anthropic/claude-sonnet-4-6", {"temperature": 0, "thinking": "disabled"}),
        ("deepseek/deepseek-v4-flash@no-thinking", {"temperature": 0}),
        ("google/gemini-2.5-flash", {"temperature": 0, "thinking_budget": -1}),
        ("local/anything", {"temperature": 0, "whatever": 1}),
    ],
)
def test_what_a_model_accepts_is_sent(choice: str, options: dict[str, Json]) -> None:
    assert resolve(choice, options).options.items() >= options.items()


def test_the_users_options_go_before_the_variants_and_those_before_the_tables() -> None:
    assert resolve("anthropic/claude-sonnet-4-6", {}).options == {"max_tokens": 16_000}
    sent = resolve("anthropic/claude-sonnet-4-6@adaptive", {"max_tokens": 9, "reasoning_effort": "high"}).options
    assert sent == {"max_tokens": 9, "thinking": "adaptive", "reasoning_effort": "high"}


def test_reasoning_models_of_openai_are_instructed_by_a_developer_and_others_by_the_system() -> None:
    assert body_of("openai/o3-mini")["messages"][0]["role"] == "developer"
    assert body_of("openai/gpt-4o")["messages"][0]["role"] == "system"
    assert body_of("openai/gpt-5.3-codex")["input"][0]["role"] == "developer"


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        ("openai/gpt-5-mini", "max_completion_tokens"),
        ("openai/gpt-5-mini@responses", "max_output_tokens"),
        ("groq/llama-3.3-70b-versatile", "max_completion_tokens"),
        ("deepseek/deepseek-v4-pro", "max_tokens"),
        ("openrouter/openai/gpt-5-mini", "max_completion_tokens"),
        ("openrouter/qwen/qwen-max", "max_tokens"),
    ],
)
def test_the_limit_is_spelled_as_the_model_wants_it(choice: str, field: str) -> None:
    assert body_of(choice, max_tokens=99)[field] == 99


@pytest.mark.parametrize(
    ("choice", "options", "words"),
    [
        (
            "anthropic/claude-sonnet-4-5@thinking",
            {},
            "extended thinking, budget 5,000 tokens; temperature not sent; max_tokens 16,000",
        ),
        (
            "anthropic/claude-opus-4-6@adaptive",
            {},
            "adaptive thinking, effort medium; temperature not sent; max_tokens 16,000",
        ),
        (
            "anthropic/claude-opus-4-6",
            {"temperature": 0, "reasoning_effort": "low"},
            "no reasoning (the provider's default), effort low; temperature 0; max_tokens 16,000",
        ),
        ("openai/gpt-5-mini", {}, "reasoning effort medium (the provider's default); temperature not sent"),
        ("openai/gpt-5.2", {}, "no reasoning (the provider's default); temperature not sent"),
        ("openai/gpt-5.2@reasoning", {}, "reasoning effort medium; temperature not sent"),
        ("openai/gpt-5.2", {"reasoning_effort": "none"}, "no reasoning (effort none); temperature not sent"),
        ("google/gemini-2.5-flash", {}, "dynamic thinking (the provider's default); temperature not sent"),
        ("google/gemini-2.5-flash@no-thinking", {}, "no reasoning (thinking budget 0); temperature not sent"),
        ("google/gemini-2.5-flash", {"thinking_budget": -1}, "dynamic thinking; temperature not sent"),
        ("deepseek/deepseek-v4-flash@no-thinking", {}, "no reasoning (thinking disabled); temperature not sent"),
        ("deepseek/deepseek-v4-flash", {"thinking": "enabled"}, "thinking enabled; temperature not sent"),
        ("xai/grok-4-1-fast-reasoning", {}, "built-in reasoning (the provider's default); temperature not sent"),
        (
            "alibaba/qwen-max",
            {"temperature": 0.5, "seed": 7, "extra": {"enable_thinking": False}},
            'no reasoning (the provider\'s default); temperature 0.5; seed 7; extra {"enable_thinking":false}',
        ),
        (
            "local/anything",
            {},
            "reasoning left to the provider (its default is not known here); temperature not sent",
        ),
    ],
)
def test_a_configuration_is_told_in_words(choice: str, options: dict[str, Json], words: str) -> None:
    model, sent = resolve(choice, options)
    assert describe(model, sent) == words


def test_a_retired_model_is_named_before_it_is_asked() -> None:
    assert "retired it on 2026-05-15" in notice("xai/grok-4-fast-non-reasoning", date(2026, 5, 15))
    assert notice("xai/grok-4-fast-non-reasoning", date(2026, 5, 14)) == ""
    assert notice("local/anything", date(2026, 5, 15)) == ""


def test_the_table_and_the_prices_agree_on_the_longest_answer() -> None:
    table, day = PriceTable.load(), date(2026, 11, 30)
    for choice in {resolve(choice, {}).id for choice in CHOICES}:
        known = capability(choice)
        try:
            priced = table.price(choice, day).max_output
        except UnknownPrice:
            continue
        assert known is not None
        assert priced is None or known.max_output == priced, choice


def test_every_row_says_where_it_was_read() -> None:
    table = tomllib.loads(SHIPPED.read_text())
    assert all(row["source"] and row["models"] for row in (*table["model"], *table["preset"]))

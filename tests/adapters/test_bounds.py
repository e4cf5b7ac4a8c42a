"""An option that would let a call cost more than is reserved for it is refused before anything is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import ConfigurationError, Json
from turntide.adapters.capabilities import resolve

MODELS = ["compatible/unheard-of", "openai/gpt-5-mini"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("value", [-500_000, -1, 0, True, 10.5, "many", [1], None])
def test_a_length_is_a_whole_number_of_tokens_from_1_up(model: str, value: Json) -> None:
    with pytest.raises(ConfigurationError, match=f"{model}: `max_tokens` is a whole number of tokens from 1 up"):
        resolve(model, {"max_tokens": value})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("temperature", -0.1, "a number from 0 up"),
        ("temperature", float("nan"), "a number from 0 up"),
        ("temperature", float("inf"), "a number from 0 up"),
        ("seed", 0.5, "a whole number"),
        ("max_tokens_field", "foo", "max_completion_tokens or max_tokens"),
        ("extra", [], "a table"),
    ],
)
def test_what_no_provider_takes_is_refused_here(name: str, value: Json, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=f"`{name}` is {expected}, not "):
        resolve(MODELS[0], {name: value})


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        ({"n": 8}, "`n` in `extra` asks for several answers, of which one is read and all are paid"),
        ({"best_of": 2}, "asks for several answers"),
        ({"generationConfig": {"candidateCount": 3}}, "`candidateCount` in `extra` asks for several answers"),
        ({"max_tokens": 9000}, "`max_tokens` in `extra` would undo the bound"),
        ({"generationConfig": {"maxOutputTokens": 9000}}, "would undo the bound"),
        ({"tools": []}, "is billed beside the tokens"),
        ({"service_tier": "priority"}, "costs more than the price table knows"),
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, "costs more than the price table knows"),
    ],
)
def test_nothing_in_extra_makes_a_call_dearer_than_its_reservation(extra: dict[str, Json], why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        resolve(MODELS[0], {"max_tokens": 20, "extra": extra})


@given(st.integers(1, 10**6), st.floats(0, 2), st.integers())
def test_usual_options_pass(most: int, temperature: float, seed: int) -> None:
    extra: Json = {"n": 1, "top_k": 1, "service_tier": "flex", "cache_control": {"type": "ephemeral"}}
    options: dict[str, Json] = {"max_tokens": most, "temperature": temperature, "seed": seed, "extra": extra}
    assert resolve(MODELS[0], options).options == options

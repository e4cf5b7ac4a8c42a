"""The formats besides chat completions, from the provider's side: what they understand, refuse, and say of limits."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import Answer, LimitHint, Message
from turntide.adapters.simulated.config import Config
from turntide.adapters.simulated.exchange import Simulation
from turntide.adapters.simulated.failure import Failure, FailureKind
from turntide.adapters.simulated.wire import WIRES, anthropic, gemini, openai_responses

PATHS = {openai_responses: "/v1/responses", anthropic: "/v1/messages", gemini: "/v1beta/models/m:generateContent"}
USER = [{"role": "user", "content": "hi"}]
PARTS = [{"role": "user", "parts": [{"text": "hi"}]}]
SCHEMA = {"type": "object"}
ASKED = {"model": "m", "messages": USER, "max_tokens": 9}


@pytest.mark.parametrize("path", ["/v1/chat/completions", *PATHS.values()])
def test_each_path_belongs_to_one_format(path: str) -> None:
    assert sum(wire.claims(path) for wire in WIRES) == 1


READ: list[tuple[Any, dict[str, Any], list[tuple[str, str]], dict[str, Any]]] = [
    (openai_responses, {"model": "m", "input": "hi"}, [("user", "hi")], {}),
    (
        openai_responses,
        {
            "model": "m",
            "instructions": "be brief",
            "input": [
                {"role": "developer", "content": [{"type": "input_text", "text": "a"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
                *USER,
            ],
            "max_output_tokens": 7,
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "x", "schema": SCHEMA}},
            "store": False,
        },
        [("system", "be brief"), ("system", "a"), ("assistant", "b"), ("user", "hi")],
        {"max_tokens": 7, "reasoning_effort": "low", "json_schema": SCHEMA},
    ),
    (
        anthropic,
        {
            "model": "m",
            "system": [{"type": "text", "text": "be "}, {"type": "text", "text": "brief"}],
            "messages": USER,
            "max_tokens": 5001,
            "thinking": {"type": "enabled", "budget_tokens": 5000},
        },
        [("system", "be brief"), ("user", "hi")],
        {"max_tokens": 5001, "thinking_budget": 5000},
    ),
    (
        anthropic,
        {
            "model": "m",
            "messages": USER,
            "max_tokens": 9,
            "temperature": 0,
            "thinking": {"type": "adaptive"},
            "output_config": {"effort": "medium", "format": {"type": "json_schema", "schema": SCHEMA}},
        },
        [("user", "hi")],
        {
            "max_tokens": 9,
            "temperature": 0,
            "thinking": "adaptive",
            "reasoning_effort": "medium",
            "json_schema": SCHEMA,
        },
    ),
    (
        gemini,
        {
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "contents": [*PARTS, {"role": "model", "parts": [{"text": "a"}, {"text": "b"}]}],
            "generationConfig": {"maxOutputTokens": 9, "seed": 3, "thinkingConfig": {"thinkingBudget": 0}},
        },
        [("system", "be brief"), ("user", "hi"), ("assistant", "ab")],
        {"max_tokens": 9, "seed": 3, "thinking_budget": 0},
    ),
]


@pytest.mark.parametrize(("wire", "body", "messages", "options"), READ)
def test_a_request_is_read_into_a_question(
    wire: Any, body: dict[str, Any], messages: list[tuple[Any, str]], options: dict[str, Any]
) -> None:
    question = wire.parse(PATHS[wire], json.dumps(body).encode())
    assert question.model == "m"
    assert question.messages == tuple(Message(role, content) for role, content in messages)
    assert question.options == options


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (openai_responses, {"input": "hi"}, "model"),
    (openai_responses, {"model": "m", "input": []}, "input"),
    (openai_responses, {"model": "m", "input": "hi", "stream": True}, "stream"),
    (openai_responses, {"model": "m", "input": "hi", "tools": [{}]}, "tools"),
    (openai_responses, {"model": "m", "input": "hi", "previous_response_id": "x"}, "previous_response_id"),
    (anthropic, {"model": "m", "messages": USER}, "max_tokens"),
    (anthropic, {"model": "m", "messages": USER, "max_tokens": 0}, "max_tokens"),
    (anthropic, {"model": "m", "messages": [{"role": "system", "content": "x"}], "max_tokens": 9}, "role"),
    (anthropic, {**ASKED, "thinking": {"type": "maybe"}}, "maybe"),
    (
        anthropic,
        {**ASKED, "thinking": {"type": "enabled", "budget_tokens": 1023}},
        "budget_tokens",
    ),
    (
        anthropic,
        {
            "model": "m",
            "messages": USER,
            "max_tokens": 1024,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
        },
        "must be greater",
    ),
    (gemini, {"contents": []}, "contents"),
    (gemini, {"contents": [{"parts": [{"inlineData": {}}]}]}, "text"),
    (gemini, {"contents": PARTS, "tools": [{}]}, "tools"),
]


@pytest.mark.parametrize(("wire", "body", "place"), REFUSED)
def test_a_request_that_is_not_understood_is_refused_with_the_place(
    wire: Any, body: dict[str, Any], place: str
) -> None:
    with pytest.raises(Failure, match=place) as caught:
        wire.parse(PATHS[wire], json.dumps(body).encode())
    assert caught.value.status == 400


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_every_failure_has_an_error_body_that_says_why(wire: Any, kind: FailureKind) -> None:
    failure = Failure(kind, "why it failed", retry_after=2.5)
    assert "why it failed" in wire.error(failure).decode()
    assert isinstance(json.loads(wire.error(failure)), dict)
    assert wire.status(failure) in (200, 400, 401, 402, 404, 413, 429, 500, 502, 529)


@pytest.mark.parametrize("wire", WIRES)
def test_a_lone_surrogate_in_an_answer_reaches_the_client(wire: Any) -> None:
    assert "a\\ud800b" in wire.answer(Answer(text="a\ud800b", model="m", usage=None), "n").decode()


def test_gemini_says_in_its_body_how_long_to_wait() -> None:
    error = json.loads(gemini.error(Failure("tokens", "slow down", retry_after=2.5)))["error"]
    assert error["status"] == "RESOURCE_EXHAUSTED"
    assert [detail["retryDelay"] for detail in error["details"]] == ["2.500s"]
    assert gemini.limits([LimitHint(resource="tokens", limit=1)]) == {}


def test_anthropic_tells_the_moment_at_which_a_limit_is_whole_again() -> None:
    before = datetime.now(UTC)
    sent = anthropic.limits([LimitHint(resource="tokens", limit=100, remaining=40, reset=36.0)])
    assert sent["anthropic-ratelimit-tokens-limit"] == "100"
    assert sent["anthropic-ratelimit-tokens-remaining"] == "40"
    moment = datetime.fromisoformat(sent["anthropic-ratelimit-tokens-reset"])
    assert timedelta(seconds=35.9) <= moment - before <= timedelta(seconds=37)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
shapes = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=3)
)
likely = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["echo", "echo?cut=1", "nobody"]) | shapes,
        "messages": st.just(USER) | shapes,
        "input": st.just(USER) | st.text() | shapes,
        "contents": st.just(PARTS) | shapes,
        "max_tokens": st.integers(0, 9) | shapes,
        "thinking": st.just({"type": "adaptive"}) | shapes,
        "generationConfig": st.just({"maxOutputTokens": 3}) | shapes,
    },
)
SIMULATION = Simulation(Config())


@pytest.mark.parametrize("wire", PATHS)
@given(body=st.binary(max_size=60) | likely.map(json.dumps).map(str.encode))
def test_no_body_is_answered_with_anything_but_the_providers_shape(wire: Any, body: bytes) -> None:
    path = "/v1beta/models/echo:generateContent" if wire is gemini else PATHS[wire]
    with SIMULATION.call(wire, path, {}) as call:
        plan = call.plan(body)
        call.sent(plan)
    assert plan.status in (200, 400, 404)
    reply = json.loads(plan.body)
    assert {"output", "content", "candidates"} & set(reply) if plan.status == 200 else reply["error"]["message"]

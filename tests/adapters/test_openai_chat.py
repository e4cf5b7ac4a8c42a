"""The chat-completions format: what is sent, and what every kind of reply is read as."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict
from turntide.adapters.base import (
    Answer,
    ConfigurationError,
    Fault,
    Json,
    LimitHint,
    Message,
    Question,
    Secret,
    Usage,
    WireReply,
)
from turntide.adapters.openai_chat import OpenAIChat

from ..support.replies import NOW, QUESTION, headers, statuses

WIRE = OpenAIChat(clock=lambda: NOW)


def body_of(wire: OpenAIChat, **options: Json) -> Any:
    return json.loads(wire.build(Question(model="m", messages=QUESTION.messages, options=options)).body)


def test_a_question_is_posted_with_sorted_keys_and_nothing_that_was_not_asked_for() -> None:
    request = WIRE.build(QUESTION)
    assert request.path == "/chat/completions"
    assert request.body == (
        b'{"messages":[{"role":"system","content":"Write SQL."},{"role":"user","content":"How many?"}],"model":"m"}'
    )


def test_every_option_has_its_field() -> None:
    schema: Json = {"type": "object", "properties": {"reason": {"type": "string"}, "answer": {"type": "string"}}}
    sent = body_of(
        WIRE,
        max_tokens=512,
        temperature=0.5,
        seed=7,
        reasoning_effort="low",
        json_schema=schema,
        extra={"service_tier": "flex"},
    )
    assert sent["max_completion_tokens"] == 512
    assert (sent["temperature"], sent["seed"], sent["reasoning_effort"]) == (0.5, 7, "low")
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": True},
    }
    assert list(sent["response_format"]["json_schema"]["schema"]["properties"]) == ["reason", "answer"]
    assert sent["service_tier"] == "flex"


def test_older_hosts_get_max_tokens_under_its_old_name() -> None:
    assert body_of(OpenAIChat(max_tokens_field="max_tokens"), max_tokens=9)["max_tokens"] == 9


@pytest.mark.parametrize("option", ["thinking_budget", "extra"])
def test_an_option_that_the_format_cannot_express_is_refused_with_the_way_out(option: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"`{option}`; .* the table `extra`"):
        body_of(WIRE, **{option: 1000})


@pytest.mark.parametrize("extra", [{"model": "other"}, {"messages": []}, {"temperature": 1}])
def test_extra_cannot_change_what_is_asked(extra: dict[str, Json]) -> None:
    with pytest.raises(ConfigurationError, match="twice"):
        body_of(WIRE, temperature=0, extra=extra)


options = st.dictionaries(
    st.sampled_from(["max_tokens", "temperature", "seed"]), st.integers(min_value=0, max_value=2**70), max_size=3
)
extras = st.dictionaries(st.text(min_size=1).map("x_".__add__), st.dictionaries(st.text(), st.integers()), max_size=3)


@given(st.text(st.characters()), options, extras)
def test_equal_questions_give_equal_bytes_whatever_the_text(
    text: str, sent: dict[str, Json], extra: dict[str, dict[str, int]]
) -> None:
    # st.characters() includes lone surrogates, NUL and bidi marks.
    one: dict[str, Json] = {**sent, "extra": {key: dict(value) for key, value in extra.items()}}
    other: dict[str, Json] = {
        "extra": {key: dict(reversed(value.items())) for key, value in reversed(extra.items())},
        **dict(reversed(sent.items())),
    }
    first, second = (
        WIRE.build(Question(model="m", messages=(Message("user", text),), options=each)).body for each in (one, other)
    )
    assert first == second
    assert json.loads(first)["messages"][0]["content"] == text.encode("utf-16", "surrogatepass").decode(
        "utf-16", "replace"
    )


def test_the_key_travels_in_its_header_alone() -> None:
    assert WIRE.authorize(Secret("sk-1")) == (("authorization", "Bearer sk-1"),)
    assert WIRE.authorize(Secret("")) == ()


def test_limits_are_read_from_the_headers() -> None:
    headers = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "200000",
        "x-ratelimit-remaining-tokens": "many",
    }
    assert WIRE.hints(WireReply(status=200, headers=headers, body=b"")) == (
        LimitHint(resource="requests", limit=500, remaining=499, reset=0.12),
        LimitHint(resource="tokens", limit=200_000),
    )
    assert WIRE.hints(WireReply(status=200, headers={}, body=b"")) == ()


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
WORDS = """choices message content text finish_reason refusal reasoning reasoning_content thinking usage prompt_tokens
completion_tokens total_tokens prompt_tokens_details cached_tokens completion_tokens_details model error code type"""
names = st.text(max_size=4) | st.sampled_from(WORDS.split())
shapes = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5))


def near(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return replies whose outer shape is right, so that the search reaches the inner parts."""
    message = st.fixed_dictionaries({}, optional={"content": value, "refusal": value, "reasoning": value})
    choice = st.fixed_dictionaries({"message": message | value}, optional={"finish_reason": value, "error": value})
    usage = st.fixed_dictionaries({}, optional=dict.fromkeys(("prompt_tokens", "completion_tokens"), value))
    return st.fixed_dictionaries(
        {"choices": st.lists(choice | value, max_size=2)}, optional={"usage": usage, "error": value}
    )


bodies = st.binary(max_size=60) | (shapes | near(shapes)).map(lambda value: json.dumps(value).encode())


@given(statuses, headers, bodies)
def test_read_never_raises_and_never_makes_an_answer_of_an_error(
    status: int, sent: dict[str, str], body: bytes
) -> None:
    reply = WireReply(status=status, headers=sent, body=body)
    read = WIRE.read(reply, QUESTION)
    WIRE.hints(reply)
    if isinstance(read, Answer):
        assert 200 <= status < 300 or read.finish == "refused"
        assert all(0 <= count <= 2 * 10**12 for count in asdict(read.usage or Usage()).values())
    elif isinstance(read, Fault):
        assert read.retry_after is None or 0 <= read.retry_after < float("inf")
        assert read.paid == (status < 300)
    assert len(getattr(read, "message", "")) < 700


@pytest.mark.parametrize(
    "body", [b"[" * 200_000, b'{"a":' * 100_000, b"1" * 10_000], ids=["arrays", "objects", "digits"]
)
def test_a_body_built_to_break_parsers_is_a_malformed_reply(body: bytes) -> None:
    read = WIRE.read(WireReply(status=200, headers={}, body=body), QUESTION)
    assert isinstance(read, Fault)
    assert (read.kind, read.paid) == ("malformed", True)


def test_a_ten_megabyte_answer_comes_through() -> None:
    text = "𝕏\u202e\x00" * 1_200_000
    body = json.dumps({"choices": [{"message": {"content": text}}]}, ensure_ascii=False).encode()
    read = WIRE.read(WireReply(status=200, headers={}, body=body), QUESTION)
    assert isinstance(read, Answer)
    assert read.text == text

"""Every wire format against the replies that its provider documents, and against replies that nobody should send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict
from turntide.adapters.anthropic import SAMPLING_VERSION, VERSION, AnthropicMessages
from turntide.adapters.base import (
    Answer,
    ConfigurationError,
    Fatal,
    Fault,
    Json,
    LimitHint,
    Message,
    Question,
    Secret,
    Usage,
    WireFormat,
    WireReply,
)
from turntide.adapters.gemini import GeminiContent
from turntide.adapters.openai_chat import OpenAIChat
from turntide.adapters.openai_responses import OpenAIResponses
from turntide.adapters.wirejson import as_count

from ..support.replies import NOW, QUESTION, cases, damaged, expected_of, headers, reply_of, statuses

FORMATS: dict[str, WireFormat] = {
    "openai_chat": OpenAIChat(clock=lambda: NOW),
    "openai_responses": OpenAIResponses(clock=lambda: NOW),
    "anthropic": AnthropicMessages(clock=lambda: NOW),
    "gemini": GeminiContent(clock=lambda: NOW),
}
SCHEMA: Json = {"type": "object", "properties": {"reason": {"type": "string"}, "answer": {"type": "string"}}}


@pytest.mark.parametrize("path", cases(*FORMATS), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_reply_is_read_as_its_fixture_says(path: Path) -> None:
    case = json.loads(path.read_text())
    assert FORMATS[path.parent.name].read(reply_of(case), QUESTION) == expected_of(case), case["about"]


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_no_reply_breaks_a_format_or_makes_an_answer_of_an_error(name: str, data: st.DataObject) -> None:
    status, sent, body = data.draw(statuses), data.draw(headers), data.draw(damaged(name))
    reply = WireReply(status=status, headers=sent, body=body)
    FORMATS[name].hints(reply)
    read = FORMATS[name].read(reply, QUESTION)
    if isinstance(read, Answer):
        assert 200 <= status < 300 or read.finish == "refused"
        assert all(0 <= count <= 4 * 10**12 for count in asdict(read.usage or Usage()).values())
        usage = read.usage or Usage()
        assert usage.cached_tokens + usage.cache_write_tokens <= usage.input_tokens
        assert usage.reasoning_tokens <= usage.output_tokens
    elif isinstance(read, Fault):
        assert read.retry_after is None or 0 <= read.retry_after < float("inf")
        assert read.paid == (status < 300)
    assert len(getattr(read, "message", "")) < 700


def asked(name: str, **options: Json) -> Any:
    return json.loads(FORMATS[name].build(Question(model="m", messages=QUESTION.messages, options=options)).body)


def test_a_question_to_responses_carries_its_whole_chat_and_is_not_stored() -> None:
    request = FORMATS["openai_responses"].build(QUESTION)
    assert request.path == "/responses"
    assert request.body == (
        b'{"input":[{"type":"message","role":"system","content":"Write SQL."},'
        b'{"type":"message","role":"user","content":"How many?"}],"model":"m","store":false}'
    )


def test_every_option_of_responses_has_its_field() -> None:
    sent = asked(
        "openai_responses",
        max_tokens=9,
        reasoning_effort="low",
        json_schema=SCHEMA,
        system_role="developer",
        extra={"reasoning": {"summary": "auto"}},
    )
    assert sent["max_output_tokens"] == 9
    assert sent["reasoning"] == {"effort": "low", "summary": "auto"}
    assert sent["text"] == {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}}
    assert sent["input"][0]["role"] == "developer"


def test_a_copy_of_responses_is_asked_for_a_schema_in_both_places_and_cuts_at_the_limit_without_a_word() -> None:
    wire = OpenAIResponses(copied=True)
    question = Question(model="m", messages=QUESTION.messages, options={"max_tokens": 2, "json_schema": SCHEMA})
    sent = json.loads(wire.build(question).body)
    assert sent["response_format"]["json_schema"]["schema"] == sent["text"]["format"]["schema"] == SCHEMA
    for tokens, finish in ((1, "stop"), (2, "length")):
        body = {
            "status": "completed",
            "model": "m",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "a b"}]}],
            "usage": {"input_tokens": 9, "output_tokens": tokens},
        }
        read = wire.read(WireReply(200, {}, json.dumps(body).encode()), question)
        assert isinstance(read, Answer)
        assert (read.text, read.finish) == ("a b", finish)


def test_a_host_that_passes_over_schemas_is_not_sent_one() -> None:
    question = Question(model="m", messages=QUESTION.messages, options={"max_tokens": 2, "json_schema": SCHEMA})
    with pytest.raises(ConfigurationError, match="takes no `json_schema`"):
        AnthropicMessages(schemas=False).build(question)


def test_a_question_to_anthropic_has_its_system_text_apart() -> None:
    question = Question(model="m", messages=QUESTION.messages, options={"max_tokens": 9})
    request = FORMATS["anthropic"].build(question)
    assert request.path == "/v1/messages"
    assert dict(request.headers)["anthropic-version"] == VERSION
    assert request.body == (
        b'{"max_tokens":9,"messages":[{"role":"user","content":"How many?"}],"model":"m","system":"Write SQL."}'
    )


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"thinking_budget": 5000}, {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
        (
            {"thinking": "adaptive", "reasoning_effort": "medium"},
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
        ),
        ({"thinking": "disabled"}, {"thinking": {"type": "disabled"}}),
        (
            {"reasoning_effort": "low", "json_schema": SCHEMA},
            {"output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}},
        ),
        ({"extra": {"cache_control": {"type": "ephemeral"}}}, {"cache_control": {"type": "ephemeral"}}),
    ],
)
def test_every_option_of_anthropic_has_its_field(options: dict[str, Json], fields: dict[str, Any]) -> None:
    sent = asked("anthropic", max_tokens=9000, **options)
    assert {name: sent[name] for name in fields} == fields
    assert set(sent) - set(fields) == {"model", "max_tokens", "messages", "system"}


def test_a_temperature_goes_to_anthropic_with_the_last_version_that_takes_one() -> None:
    question = Question(model="m", messages=QUESTION.messages, options={"max_tokens": 9, "temperature": 0})
    assert dict(FORMATS["anthropic"].build(question).headers)["anthropic-version"] == SAMPLING_VERSION


def test_a_question_to_gemini_names_its_model_in_the_path() -> None:
    chat = (*QUESTION.messages, Message("assistant", "5"), Message("user", "And now?"))
    request = FORMATS["gemini"].build(Question(model="echo?wrong=0.1", messages=chat))
    assert request.path == "/v1beta/models/echo%3Fwrong%3D0.1:generateContent"
    assert json.loads(request.body) == {
        "contents": [
            {"role": "user", "parts": [{"text": "How many?"}]},
            {"role": "model", "parts": [{"text": "5"}]},
            {"role": "user", "parts": [{"text": "And now?"}]},
        ],
        "systemInstruction": {"parts": [{"text": "Write SQL."}]},
    }


def test_every_option_of_gemini_has_its_field() -> None:
    sent = asked(
        "gemini",
        max_tokens=9,
        temperature=0,
        seed=7,
        thinking_budget=0,
        json_schema=SCHEMA,
        extra={"generationConfig": {"topK": 1}},
    )
    assert sent["generationConfig"] == {
        "maxOutputTokens": 9,
        "temperature": 0,
        "seed": 7,
        "thinkingConfig": {"thinkingBudget": 0},
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
        "topK": 1,
    }
    assert asked("gemini", reasoning_effort="low")["generationConfig"] == {"thinkingConfig": {"thinkingLevel": "low"}}


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("openai_responses", {"seed": 1}, "no option `seed`"),
        ("openai_responses", {"extra": {"model": "x"}}, "set `model` twice"),
        ("openai_responses", {"reasoning_effort": "low", "extra": {"reasoning": {"effort": "x"}}}, "reasoning.effort"),
        ("anthropic", {}, "asks for `max_tokens`"),
        ("anthropic", {"max_tokens": 9, "seed": 1}, "no option `seed`"),
        ("anthropic", {"max_tokens": 9, "thinking": "adaptive", "thinking_budget": 5}, "set `thinking.type` twice"),
        ("anthropic", {"max_tokens": 9, "extra": {"cache_control": {"ttl": "1h"}}}, "leave `ttl` out"),
        ("gemini", {"thinking": "adaptive"}, "no option `thinking`"),
        (
            "gemini",
            {"thinking_budget": 1, "extra": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 2}}}},
            "twice",
        ),
    ],
)
def test_what_a_format_cannot_express_is_refused(name: str, options: dict[str, Json], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        asked(name, **options)


def test_building_leaves_the_options_as_they_were() -> None:
    extra: Json = {"reasoning": {"summary": "auto"}}
    asked("openai_responses", reasoning_effort="low", extra=extra)
    assert extra == {"reasoning": {"summary": "auto"}}


@pytest.mark.parametrize("name", FORMATS)
@given(st.text(st.characters()), st.permutations(["max_tokens", "temperature", "json_schema"]))
def test_equal_questions_give_equal_bytes_whatever_the_text(name: str, text: str, order: list[str]) -> None:
    values: dict[str, Json] = {"max_tokens": 9, "temperature": 0.5, "json_schema": SCHEMA}
    messages = (Message("user", text),)
    first, second = (
        FORMATS[name].build(Question(model="m", messages=messages, options={key: values[key] for key in keys}))
        for keys in (order, sorted(order))
    )
    assert first == second
    # U+FFFD stands for half a character: no server takes one, even as an escape.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert whole in _strings(json.loads(first.body))


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts: list[Any] = list(value.values() if isinstance(value, dict) else value if isinstance(value, list) else [])  # pyright: ignore[reportUnknownArgumentType]
    return [text for part in parts for text in _strings(part)]


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("openai_chat", ("authorization", "Bearer k-1")),
        ("openai_responses", ("authorization", "Bearer k-1")),
        ("anthropic", ("x-api-key", "k-1")),
        ("gemini", ("x-goog-api-key", "k-1")),
    ],
)
def test_the_key_travels_in_its_header_alone(name: str, header: tuple[str, str]) -> None:
    assert FORMATS[name].authorize(Secret("k-1")) == (header,)
    assert FORMATS[name].authorize(Secret("")) == ()


def test_limits_of_anthropic_are_read_from_its_headers() -> None:
    sent = {
        "anthropic-ratelimit-requests-limit": "4000",
        "anthropic-ratelimit-requests-remaining": "3999",
        "anthropic-ratelimit-requests-reset": "2026-09-21T13:20:15Z",
        "anthropic-ratelimit-input-tokens-limit": "2000000",
        "anthropic-ratelimit-tokens-limit": "400000",
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-09-21T13:19:00Z",
    }
    assert FORMATS["anthropic"].hints(WireReply(200, sent, b"")) == (
        LimitHint(resource="requests", limit=4000, remaining=3999, reset=15.0),
        LimitHint(resource="tokens", limit=400_000, remaining=0, reset=0.0),
    )
    del sent["anthropic-ratelimit-tokens-limit"], sent["anthropic-ratelimit-tokens-remaining"]
    del sent["anthropic-ratelimit-tokens-reset"]
    assert FORMATS["anthropic"].hints(WireReply(200, sent, b""))[1] == LimitHint(resource="tokens", limit=2_000_000)


def test_a_reset_of_anthropic_is_taken_by_the_servers_own_clock_when_ours_is_hours_wrong() -> None:
    sent = {
        "date": "Mon, 21 Sep 2026 18:20:00 GMT",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-09-21T18:20:02Z",
    }
    assert FORMATS["anthropic"].hints(WireReply(200, sent, b"")) == (
        LimitHint(resource="requests", limit=None, remaining=0, reset=2.0),
    )


def test_requests_of_groq_are_counted_by_the_day() -> None:
    sent = {
        "x-ratelimit-limit-requests": "14400",
        "x-ratelimit-remaining-requests": "14370",
        "x-ratelimit-reset-requests": "2m59.56s",
        "x-ratelimit-limit-tokens": "18000",
    }
    assert OpenAIChat(requests_window=86_400.0).hints(WireReply(200, sent, b"")) == (
        LimitHint(resource="requests", limit=14_400, remaining=14_370, reset=179.56, window=86_400.0),
        LimitHint(resource="tokens", limit=18_000),
    )


@pytest.mark.parametrize(("passes", "kind"), [(True, "rate_limit"), (False, "quota")])
def test_dashscope_says_quota_of_the_tokens_of_a_minute(passes: bool, kind: str) -> None:
    body = b'{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}'
    read = OpenAIChat(quota_passes=passes).read(WireReply(429, {}, body), QUESTION)
    assert isinstance(read, Fault | Fatal)
    assert read.kind == kind


@pytest.mark.parametrize(
    ("told", "counted"),
    [(5, 5), (5.0, 5), ("5", 5), (0, 0), (-1, None), (5.5, None), ("5.0", None), ("", None), (True, None), (None, None),
     (10**13, None), (float("nan"), None), (float("inf"), None), ("9" * 5000, None), ("\u0665", None)],
)  # fmt: skip
def test_a_count_of_tokens_is_a_whole_number_however_it_is_spelled(told: Json, counted: int | None) -> None:
    assert as_count(told) == counted
    usage = {"prompt_tokens": told, "completion_tokens": 1}
    body = json.dumps({"choices": [{"message": {"content": "x"}}], "usage": usage}).encode()
    read = OpenAIChat().read(WireReply(status=200, headers={}, body=body), QUESTION)
    assert isinstance(read, Answer)
    assert (read.usage and read.usage.input_tokens) == counted


PAGE = b"<!doctype html>\n<html>\x07<title>Welcome to nginx!</title>" + b"<p>more</p>" * 50


@pytest.mark.parametrize("name", FORMATS)
def test_a_page_with_a_200_is_quoted_and_the_base_url_suspected(name: str) -> None:
    read = FORMATS[name].read(WireReply(status=200, headers={}, body=PAGE), QUESTION)
    assert isinstance(read, Fault)
    assert "'<!doctype html> <html><title>Welcome to nginx!</title>" in read.message
    assert "Is the base URL right" in read.message
    assert len(read.message) < 250

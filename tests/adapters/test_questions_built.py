"""What every wire format makes of a question: the request of the provider's documentation, or a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.anthropic import SAMPLING_VERSION, VERSION, AnthropicMessages
from turntide.adapters.base import Answer, ConfigurationError, Json, Message, Question, Secret, WireReply
from turntide.adapters.openai_responses import OpenAIResponses

from ..support.formats import FORMATS
from ..support.replies import QUESTION

SCHEMA: Json = {"type": "object", "properties": {"reason": {"type": "string"}, "answer": {"type": "string"}}}


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

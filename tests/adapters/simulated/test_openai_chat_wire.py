"""The OpenAI chat format, from the provider's side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import Answer, LimitHint, Message, Usage
from turntide.adapters.simulated.failure import STATUS, Failure
from turntide.adapters.simulated.wire import openai_chat as wire

FIXTURES = Path(__file__).parents[2] / "fixtures" / "simulated"
REQUESTS: list[dict[str, Any]] = json.loads((FIXTURES / "requests.json").read_text())
REFUSED: list[tuple[object, str]] = json.loads((FIXTURES / "refused.json").read_text())


@pytest.mark.parametrize("case", REQUESTS, ids=lambda case: case["name"])
def test_a_request_is_read_into_a_question(case: dict[str, Any]) -> None:
    question = wire.parse(wire.PATH, json.dumps(case["body"]).encode())
    assert question.model == "m"
    assert question.messages == tuple(Message(role, content) for role, content in case["messages"])
    assert dict(question.options) == case["options"]


@pytest.mark.parametrize(("body", "place"), REFUSED)
def test_a_request_that_is_not_understood_is_refused_with_the_place(body: object, place: str) -> None:
    with pytest.raises(Failure, match=place.replace("[", r"\[")) as caught:
        wire.parse(wire.PATH, json.dumps(body).encode())
    assert caught.value.status == 400


def test_an_answer_has_the_documented_shape() -> None:
    usage = Usage(input_tokens=10, cached_tokens=4, output_tokens=7, reasoning_tokens=5)
    body = json.loads(wire.answer(Answer(text="SELECT 1", model="m", usage=usage), "ab"))
    assert body["id"] == "chatcmpl-ab"
    assert body["object"] == "chat.completion"
    assert body["model"] == "m"
    assert body["choices"][0]["message"] == {"role": "assistant", "content": "SELECT 1", "refusal": None}
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }


def test_refusals_cuts_and_missing_usage_are_told_apart() -> None:
    refused = json.loads(wire.answer(Answer(text="no", model="m", usage=None, finish="refused"), ""))
    assert refused["choices"][0]["message"] == {"role": "assistant", "content": None, "refusal": "no"}
    assert "usage" not in refused
    cut = json.loads(wire.answer(Answer(text="SEL", model="m", usage=None, finish="length"), ""))
    assert cut["choices"][0]["finish_reason"] == "length"


def test_a_lone_surrogate_in_an_answer_reaches_the_client() -> None:
    body = json.loads(wire.answer(Answer(text="a\ud800b", model="m", usage=None), ""))
    assert body["choices"][0]["message"]["content"] == "a\ud800b"


@pytest.mark.parametrize("kind", STATUS)
def test_every_failure_has_an_error_body(kind: Any) -> None:
    error = json.loads(wire.error(Failure(kind, "why")))["error"]
    assert error["message"] == "why"
    assert isinstance(error["type"], str)
    assert {"param", "code"} < set(error)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (0.0004, "1ms"), (0.12, "120ms"), (1, "1s"), (1.5, "1.5s"), (360, "6m0s"), (3661.25, "1h1m1.25s")],
)
def test_durations_are_written_as_the_headers_write_them(seconds: float, text: str) -> None:
    assert wire.duration(seconds) == text


def test_limits_become_headers() -> None:
    hint = LimitHint(resource="tokens", limit=100, remaining=40, reset=36.0)
    assert wire.limits([hint]) == {
        "x-ratelimit-limit-tokens": "100",
        "x-ratelimit-remaining-tokens": "40",
        "x-ratelimit-reset-tokens": "36s",
    }

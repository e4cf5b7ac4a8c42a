"""OpenAI chat completions, from the provider's side.

Shapes as in OpenAI's API reference ("Create chat completion", "Error codes", "Rate limits: headers"). What it offers
and no benchmark asks for (streams, several choices, images, tools) is refused, not ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Annotated, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

from ...base import Answer, Json, LimitHint, Message, Question, Role, Usage
from ..failure import Failure, FailureKind
from .texts import TextPart, decoded, encoded, joined, present

PATH = "/chat/completions"

_Limit: TypeAlias = Annotated[int, Meta(ge=1)]

TYPE_AND_CODE: dict[FailureKind, tuple[str, str | None]] = {
    "bad_request": ("invalid_request_error", None),
    "too_large": ("invalid_request_error", None),
    "key": ("invalid_request_error", "invalid_api_key"),
    "not_found": ("invalid_request_error", "model_not_found"),
    "context_length": ("invalid_request_error", "context_length_exceeded"),
    "content_filter": ("invalid_request_error", "content_filter"),
    "requests": ("requests", "rate_limit_exceeded"),
    "tokens": ("tokens", "rate_limit_exceeded"),
    "concurrent": ("requests", "rate_limit_exceeded"),
    "quota": ("insufficient_quota", "insufficient_quota"),
    "server": ("server_error", None),
    "overloaded": ("overloaded_error", None),
    "gateway": ("server_error", None),
}


class _Part(TextPart):
    type: Literal["text"]


class _Message(Struct):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[_Part] | None = None


class _JsonSchema(Struct):
    schema: dict[str, object] | None = None


class _ResponseFormat(Struct):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: _JsonSchema | None = None


class _Request(Struct):
    model: str
    messages: Annotated[list[_Message], Meta(min_length=1)]
    max_tokens: _Limit | None = None
    max_completion_tokens: _Limit | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    response_format: _ResponseFormat | None = None
    stream: Literal[False] | None = None
    n: Annotated[int, Meta(ge=1, le=1)] | None = None
    tools: Annotated[list[object], Meta(max_length=0)] | None = None


_REQUEST = msgspec.json.Decoder(_Request)


def claims(path: str) -> bool:
    """Return whether `path` is the chat endpoint, with or without a version before it."""
    return path.endswith(PATH)


def key(headers: Mapping[str, str]) -> str:
    """Return the bearer token."""
    return headers.get("authorization", "").removeprefix("Bearer ")


def parse(path: str, body: bytes) -> Question:
    """Return what `body` asks, or raise a `bad_request` Failure that names the place."""
    request = decoded(_REQUEST, body)
    messages = tuple(Message(_role(message), joined(message.content)) for message in request.messages)
    return Question(model=request.model, messages=messages, options=_options(request))


def _role(message: _Message) -> Role:
    return "system" if message.role == "developer" else message.role


def _options(request: _Request) -> dict[str, Json]:
    form = request.response_format
    options: dict[str, Json] = {
        "max_tokens": request.max_completion_tokens or request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        "reasoning_effort": request.reasoning_effort,
        "json_schema": cast("Json", form.json_schema.schema) if form and form.json_schema else None,
    }
    return present(options)


def answer(answer: Answer, name: str) -> bytes:
    """Return a `chat.completion`; nothing in it depends on the time, `created` neither."""
    refused = answer.finish == "refused"
    message = {
        "role": "assistant",
        "content": None if refused else answer.text,
        "refusal": answer.text if refused else None,
    }
    finish = "length" if answer.finish == "length" else "stop"
    body: dict[str, object] = {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model,
        "system_fingerprint": "fp_simulated",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
    }
    if answer.usage is not None:
        body["usage"] = _usage(answer.usage)
    return encoded(body)


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def status(failure: Failure) -> int:
    """Return the HTTP status of an error."""
    return failure.status


def error(failure: Failure) -> bytes:
    """Return an error object."""
    kind, code = TYPE_AND_CODE[failure.kind]
    return msgspec.json.encode({"error": {"message": failure.message, "type": kind, "param": None, "code": code}})


def limits(hints: Sequence[LimitHint]) -> dict[str, str]:
    """Return the `x-ratelimit-*` headers; a reset is the time until the whole allowance is there again."""
    headers: dict[str, str] = {}
    for hint in hints:
        headers[f"x-ratelimit-limit-{hint.resource}"] = str(hint.limit)
        headers[f"x-ratelimit-remaining-{hint.resource}"] = str(hint.remaining)
        headers[f"x-ratelimit-reset-{hint.resource}"] = duration(hint.reset or 0.0)
    return headers


def duration(seconds: float) -> str:
    """Return seconds as these headers write them, rounded up to a millisecond: `0s`, `12ms`, `1.5s`, `6m0s`."""
    milliseconds = ceil(seconds * 1000)
    if 0 < milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    prefix = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{prefix}{rest / 1000:g}s"

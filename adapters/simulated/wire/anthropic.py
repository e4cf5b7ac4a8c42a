"""Anthropic messages, from the provider's side.

Shapes as in the reference of platform.claude.com ("Create a Message", "Errors", "Rate limits"). Streams, tools and
whatever is not text are refused, not ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta, Struct

from ...base import Answer, Json, LimitHint, Message, Question, Usage
from ..failure import Failure, FailureKind
from .texts import TextPart, decoded, encoded, joined, present

PATH = "/messages"
LEAST_BUDGET = 1024

_TYPES: dict[FailureKind, str] = {
    "bad_request": "invalid_request_error",
    "context_length": "invalid_request_error",
    "content_filter": "invalid_request_error",
    "quota": "billing_error",
    "key": "authentication_error",
    "not_found": "not_found_error",
    "too_large": "request_too_large",
    "requests": "rate_limit_error",
    "tokens": "rate_limit_error",
    "concurrent": "rate_limit_error",
    "overloaded": "overloaded_error",
    "server": "api_error",
    "gateway": "api_error",
}
_SENTENCES: dict[FailureKind, str] = {
    "context_length": "prompt is too long: ",
    "content_filter": "Output blocked by content filtering policy. ",
}
"""The provider has no codes for these two: how its sentences begin is all that tells them."""


class _Text(TextPart):
    type: Literal["text"]


class _Message(Struct):
    role: Literal["user", "assistant"]
    content: str | list[_Text]


class _Budget(Struct, tag="enabled"):
    budget_tokens: Annotated[int, Meta(ge=LEAST_BUDGET)]


class _Adaptive(Struct, tag="adaptive"):
    pass


class _Disabled(Struct, tag="disabled"):
    pass


class _Format(Struct):
    type: Literal["json_schema"]
    schema: dict[str, object]


class _OutputConfig(Struct):
    effort: str | None = None
    format: _Format | None = None


class _Request(Struct):
    model: str
    messages: Annotated[list[_Message], Meta(min_length=1)]
    max_tokens: Annotated[int, Meta(ge=1)]
    system: str | list[_Text] | None = None
    temperature: float | None = None
    thinking: _Budget | _Adaptive | _Disabled | None = None
    output_config: _OutputConfig | None = None
    stream: Literal[False] | None = None
    tools: Annotated[list[object], Meta(max_length=0)] | None = None


_REQUEST = msgspec.json.Decoder(_Request)


def claims(path: str) -> bool:
    """Return whether `path` is the messages endpoint, with or without a version before it."""
    return path.endswith(PATH)


def key(headers: Mapping[str, str]) -> str:
    """Return the key, from its own header or from a bearer's."""
    return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")


def parse(path: str, body: bytes) -> Question:
    """Return what `body` asks, or raise a `bad_request` Failure that names the place."""
    request = decoded(_REQUEST, body)
    messages = [Message(message.role, joined(message.content)) for message in request.messages]
    if request.system:
        messages.insert(0, Message("system", joined(request.system)))
    return Question(model=request.model, messages=tuple(messages), options=_options(request))


def _options(request: _Request) -> dict[str, Json]:
    thinking, config = request.thinking, request.output_config or _OutputConfig()
    budget = thinking.budget_tokens if isinstance(thinking, _Budget) else None
    if budget is not None and budget >= request.max_tokens:
        raise Failure("bad_request", "`max_tokens` must be greater than `thinking.budget_tokens`.")
    options: dict[str, Json] = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "thinking_budget": budget,
        "thinking": None if thinking is None or budget else type(thinking).__struct_config__.tag,
        "reasoning_effort": config.effort,
        "json_schema": cast("Json", config.format.schema) if config.format else None,
    }
    return present(options)


def answer(answer: Answer, name: str) -> bytes:
    """Return a `message`. A refusal has no content: what was said stands in its details."""
    refused = answer.finish == "refused"
    content = [] if refused else [{"type": "text", "text": answer.text}]
    details = {"type": "refusal", "category": None, "explanation": answer.text} if refused else None
    reasons = {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"}
    return encoded(
        {
            "id": f"msg_{name}",
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": content,
            "stop_reason": reasons[answer.finish],
            "stop_sequence": None,
            "stop_details": details,
            **({"usage": _usage(answer.usage)} if answer.usage else {}),
        }
    )


def _usage(usage: Usage) -> Mapping[str, object]:
    return {
        "input_tokens": usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    }


def status(failure: Failure) -> int:
    """Return the HTTP status of an error; no money has one of its own here."""
    return 402 if failure.kind == "quota" else failure.status


def error(failure: Failure) -> bytes:
    """Return an error object."""
    message = _SENTENCES.get(failure.kind, "") + failure.message
    return encoded({"type": "error", "error": {"type": _TYPES[failure.kind], "message": message}, "request_id": None})


def limits(hints: Sequence[LimitHint]) -> dict[str, str]:
    """Return the `anthropic-ratelimit-*` headers; a reset is the moment at which the whole allowance is there again."""
    headers: dict[str, str] = {}
    for hint in hints:
        moment = datetime.now(UTC) + timedelta(seconds=hint.reset or 0.0)
        prefix = f"anthropic-ratelimit-{hint.resource}"
        headers[f"{prefix}-limit"] = str(hint.limit)
        headers[f"{prefix}-remaining"] = str(hint.remaining)
        headers[f"{prefix}-reset"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return headers

"""Gemini's generateContent, from the provider's side.

Shapes as in the reference of ai.google.dev ("Generating content", "Troubleshooting"). Tools, files and whatever is not
text are refused, not ignored. A 429 says in its body how long to wait; no header speaks of limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta, Struct

from ...base import Answer, Json, LimitHint, Message, Question, Usage
from ..failure import Failure, FailureKind
from .texts import TextPart, decoded, encoded, joined, present

METHOD = ":generateContent"

_STATUSES: dict[FailureKind, str] = {
    "bad_request": "INVALID_ARGUMENT",
    "context_length": "INVALID_ARGUMENT",
    "too_large": "INVALID_ARGUMENT",
    "key": "INVALID_ARGUMENT",
    "not_found": "NOT_FOUND",
    "requests": "RESOURCE_EXHAUSTED",
    "tokens": "RESOURCE_EXHAUSTED",
    "concurrent": "RESOURCE_EXHAUSTED",
    "quota": "RESOURCE_EXHAUSTED",
    "server": "INTERNAL",
    "overloaded": "UNAVAILABLE",
    "gateway": "UNAVAILABLE",
}
_TYPE = "type.googleapis.com/google.rpc."


class _Content(Struct):
    parts: list[TextPart]
    role: Literal["user", "model"] | None = None


class _Thinking(Struct, rename="camel"):
    thinking_budget: int | None = None
    thinking_level: str | None = None


class _Generation(Struct, rename="camel"):
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    candidate_count: Annotated[int, Meta(ge=1, le=1)] | None = None
    thinking_config: _Thinking | None = None
    response_json_schema: dict[str, object] | None = None


class _Request(Struct, rename="camel"):
    contents: Annotated[list[_Content], Meta(min_length=1)]
    system_instruction: _Content | None = None
    generation_config: _Generation | None = None
    tools: Annotated[list[object], Meta(max_length=0)] | None = None


_REQUEST = msgspec.json.Decoder(_Request)


def claims(path: str) -> bool:
    """Return whether `path` is the method of a model, with or without a version before it."""
    return path.endswith(METHOD) and "/models/" in path


def key(headers: Mapping[str, str]) -> str:
    """Return the key."""
    return headers.get("x-goog-api-key", "")


def parse(path: str, body: bytes) -> Question:
    """Return what `body` asks of the model in `path`, or raise a `bad_request` Failure that names the place."""
    request = decoded(_REQUEST, body)
    messages = [
        Message("assistant" if content.role == "model" else "user", joined(content.parts))
        for content in request.contents
    ]
    if request.system_instruction:
        messages.insert(0, Message("system", joined(request.system_instruction.parts)))
    config = request.generation_config or _Generation()
    thinking = config.thinking_config or _Thinking()
    options: dict[str, Json] = {
        "max_tokens": config.max_output_tokens,
        "temperature": config.temperature,
        "top_p": config.top_p,
        "seed": config.seed,
        "thinking_budget": thinking.thinking_budget,
        "reasoning_effort": thinking.thinking_level,
        "json_schema": cast("Json", config.response_json_schema),
    }
    model = path.rpartition("/models/")[2].removesuffix(METHOD)
    return Question(model=model, messages=tuple(messages), options=present(options))


def answer(answer: Answer, name: str) -> bytes:
    """Return a response of one candidate. A refusal has no content: what was said is its message."""
    reasons = {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}
    candidate: dict[str, object] = {"index": 0, "finishReason": reasons[answer.finish]}
    if answer.finish == "refused":
        candidate["finishMessage"] = answer.text
    else:
        candidate["content"] = {"role": "model", "parts": [{"text": answer.text}]}
    return encoded(
        {
            "candidates": [candidate],
            "modelVersion": answer.model,
            "responseId": name,
            **({"usageMetadata": _usage(answer.usage)} if answer.usage else {}),
        }
    )


def _usage(usage: Usage) -> Mapping[str, object]:
    return {
        "promptTokenCount": usage.input_tokens,
        "cachedContentTokenCount": usage.cached_tokens,
        "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
        "thoughtsTokenCount": usage.reasoning_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
    }


def status(failure: Failure) -> int:
    """Return the HTTP status of an error: a bad key is a bad request here, and a blocked prompt a success."""
    return {"key": 400, "content_filter": 200}.get(failure.kind, failure.status)


def error(failure: Failure) -> bytes:
    """Return an error object, or the feedback that stands in the place of candidates."""
    if failure.kind == "content_filter":
        feedback = {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": failure.message}
        return encoded({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 0, "totalTokenCount": 0}})
    status_ = _STATUSES[failure.kind]
    said = {"code": status(failure), "message": failure.message, "status": status_, "details": _details(failure)}
    return encoded({"error": said})


def _details(failure: Failure) -> list[dict[str, object]]:
    details: list[dict[str, object]] = []
    if failure.kind == "key":
        details.append({"@type": f"{_TYPE}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"})
    if failure.kind == "quota":
        violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
        details.append({"@type": f"{_TYPE}QuotaFailure", "violations": [violation]})
    if failure.retry_after is not None:
        details.append({"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{failure.retry_after:.3f}s"})
    return details


def limits(hints: Sequence[LimitHint]) -> dict[str, str]:
    """Return nothing: no header speaks of limits."""
    return {}

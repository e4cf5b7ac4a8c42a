"""OpenAI responses, from the provider's side.

Shapes as in OpenAI's API reference ("Create a model response", "The response object"). Streams, tools, stored and
background responses are refused, not ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta, Struct

from ...base import Answer, Json, Message, Question, Usage
from . import openai_chat
from .texts import TextPart, decoded, encoded, joined, present

PATH = "/responses"


class _Part(TextPart):
    type: Literal["input_text", "output_text"]


class _Item(Struct):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[_Part]
    type: Literal["message"] = "message"


class _Reasoning(Struct):
    effort: str | None = None


class _Format(Struct):
    type: Literal["text", "json_object", "json_schema"]
    schema: dict[str, object] | None = None


class _Text(Struct):
    format: _Format | None = None


class _Request(Struct):
    model: str
    input: str | Annotated[list[_Item], Meta(min_length=1)]
    instructions: str | None = None
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: float | None = None
    top_p: float | None = None
    reasoning: _Reasoning | None = None
    text: _Text | None = None
    stream: Literal[False] | None = None
    background: Literal[False] | None = None
    tools: Annotated[list[object], Meta(max_length=0)] | None = None
    previous_response_id: None = None


_REQUEST = msgspec.json.Decoder(_Request)

key = openai_chat.key
status = openai_chat.status
error = openai_chat.error
limits = openai_chat.limits


def claims(path: str) -> bool:
    """Return whether `path` is the responses endpoint, with or without a version before it."""
    return path.endswith(PATH)


def parse(path: str, body: bytes) -> Question:
    """Return what `body` asks, or raise a `bad_request` Failure that names the place."""
    request = decoded(_REQUEST, body)
    items = [_Item("user", request.input)] if isinstance(request.input, str) else request.input
    messages = [Message("system" if item.role == "developer" else item.role, joined(item.content)) for item in items]
    if request.instructions:
        messages.insert(0, Message("system", request.instructions))
    form = request.text.format if request.text else None
    options: dict[str, Json] = {
        "max_tokens": request.max_output_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "reasoning_effort": request.reasoning.effort if request.reasoning else None,
        "json_schema": cast("Json", form.schema) if form else None,
    }
    return Question(model=request.model, messages=tuple(messages), options=present(options))


def answer(answer: Answer, name: str) -> bytes:
    """Return a `response`; nothing in it depends on the time."""
    refused, cut = answer.finish == "refused", answer.finish == "length"
    part: dict[str, object] = (
        {"type": "refusal", "refusal": answer.text}
        if refused
        else {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
    )
    state = "incomplete" if cut else "completed"
    message = {"id": f"msg_{name}", "type": "message", "role": "assistant", "status": state, "content": [part]}
    return encoded(
        {
            "id": f"resp_{name}",
            "object": "response",
            "created_at": 0,
            "status": state,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "instructions": None,
            "metadata": {},
            "model": answer.model,
            "output": [message],
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "top_p": 1.0,
            "tool_choice": "auto",
            "tools": [],
            **({"usage": _usage(answer.usage)} if answer.usage else {}),
        }
    )


def _usage(usage: Usage) -> Mapping[str, object]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }

"""The OpenAI chat-completions wire format, as OpenAI and the many hosts that copied it speak it.

Reference: the chat object of OpenAI's API reference; the departures of DeepSeek, OpenRouter, vLLM, xAI and others are
named where they are read.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from .base import (
    Answer,
    ConfigurationError,
    Fault,
    FaultKind,
    Finish,
    Json,
    LimitHint,
    Question,
    Reply,
    Secret,
    Usage,
    WireReply,
    WireRequest,
)
from .errors import complaint, complaint_of, malformed, opened, read_error
from .headers import bearer, rate_hints, retry_after
from .wirejson import as_count, as_list, as_object, as_text, by_name, canonical, encode, merge

MaxTokensField = Literal["max_completion_tokens", "max_tokens"]

_FINISHES: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "refused",
    "sensitive": "refused",
}
_BROKEN_OFF: dict[str, FaultKind] = {
    "error": "server",  # OpenRouter: the host behind it failed after the 200 was sent
    "network_error": "server",  # Z.ai
    "insufficient_system_resource": "overloaded",  # DeepSeek
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIChat:
    """Chat completions as pure functions over bytes.

    `max_tokens_field` is how this host spells the option `max_tokens`: OpenAI's reasoning models accept only
    `max_completion_tokens`, most other hosts only `max_tokens`. `requests_window` is the time in seconds that its
    `x-ratelimit-*-requests` speak of: a day at Groq. `quota_passes` is for DashScope, which says `insufficient_quota`
    of the tokens of a minute. `clock` gives Unix seconds, for dates in `retry-after`.
    """

    max_tokens_field: MaxTokensField = "max_completion_tokens"
    requests_window: float = 60.0
    quota_passes: bool = False
    clock: Callable[[], float] = time.time

    def build(self, question: Question) -> WireRequest:
        """Return the bytes that ask `question`; ConfigurationError for an option that this format cannot express."""
        options = dict(question.options)
        system = options.pop("system_role", "system")
        limit = options.pop("max_tokens_field", self.max_tokens_field)
        fields: dict[str, Json] = {
            "model": question.model,
            "messages": [
                {"role": system if message.role == "system" else message.role, "content": message.content}
                for message in question.messages
            ],
        }
        for name in sorted(options):
            merge(fields, _option(name, options[name], str(limit)))
        return WireRequest(path="/chat/completions", body=encode(by_name(fields)))

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        """Return the bearer header, or nothing for a host without a key."""
        return bearer(key)

    def read(self, reply: WireReply, question: Question) -> Reply:
        """Classify a complete reply; never raises, whatever the body holds."""
        wait = retry_after(reply.headers, self.clock())
        if self.quota_passes and reply.status == 429:
            said = complaint(reply.body)
            return read_error(429, replace(said, codes=said.codes.replace("insufficient_quota", "")), wait)
        body = opened(reply, wait)
        return _read_choice(reply, body) if isinstance(body, dict) else body

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        """Return what the `x-ratelimit-*` headers say of requests and tokens."""
        return rate_hints(reply.headers, requests_window=self.requests_window)


def _option(name: str, value: Json, max_tokens_field: str) -> dict[str, Json]:
    """Return the fields of the request that one of our options becomes."""
    match name:
        case "max_tokens":
            return {max_tokens_field: value}
        case "temperature" | "seed" | "reasoning_effort":
            return {name: value}
        case "thinking":  # DeepSeek's switch, "enabled" or "disabled"
            return {"thinking": {"type": value}}
        case "json_schema":
            return {"response_format": schema_format(value)}
        case "extra" if isinstance(value, dict):
            return as_object(canonical(value))
        case _:
            raise ConfigurationError(
                f"chat completions have no option `{name}`; what a host takes beyond the usual goes into the "
                "table `extra`."
            )


def schema_format(schema: Json) -> dict[str, Json]:
    """Return the `response_format` that holds an answer to `schema`.

    Models write the members in the schema's own order, so that this object alone is not sorted.
    """
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


def _read_choice(reply: WireReply, body: dict[str, Json]) -> Reply:
    """Read the first choice: text, finish reason, refusal, reasoning."""
    choices = as_list(body.get("choices"))
    choice = as_object(choices[0]) if choices else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        return malformed(reply, "a reply without a message")
    content = message.get("content")
    if not isinstance(content, str | list | None):
        return malformed(reply, "a message whose content is neither text nor parts")
    reason = as_text(choice.get("finish_reason"))
    if kind := _BROKEN_OFF.get(reason):
        said = complaint_of(choice).message
        return Fault(kind=kind, message=f"broken off ({reason}): {said}", status=reply.status, paid=True)
    text, refused = (content, "") if isinstance(content, str) else (_parts(content, "text"), _parts(content, "refusal"))
    refusal = as_text(message.get("refusal")) or refused
    finish = "refused" if refusal else _FINISHES.get(reason, "stop")
    return Answer(
        text=text,
        model=as_text(body.get("model")),
        usage=_read_usage(body.get("usage")),
        finish=finish,
        reasoning=_read_reasoning(message),
        detail=refusal or ("" if reason in ("stop", "length") else reason),
    )


def _read_reasoning(message: dict[str, Json]) -> str:
    """Return the reasoning that came beside the text: DeepSeek and xAI, OpenRouter and vLLM, then Mistral's parts."""
    told = as_text(message.get("reasoning_content")) or as_text(message.get("reasoning"))
    if told or isinstance(message.get("content"), str):
        return told
    thoughts = [part.get("thinking") for part in map(as_object, as_list(message.get("content")))]
    return "".join(as_text(thought) or _parts(thought, "text") for thought in thoughts)


def _parts(content: Json, kind: str) -> str:
    """Return the strings under `kind` in a list of content parts, joined."""
    return "".join(as_text(as_object(part).get(kind)) for part in as_list(content))


def _read_usage(value: Json) -> Usage | None:
    """Return the tokens as counted, or None when the main counts are missing.

    xAI and Gemini leave reasoning out of `completion_tokens` but not out of `total_tokens`, and all of it is billed as
    output: the larger of the two readings is taken. DeepSeek spells cached tokens `prompt_cache_hit_tokens`.
    """
    usage = as_object(value)
    prompt, completion = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    into, out = as_object(usage.get("prompt_tokens_details")), as_object(usage.get("completion_tokens_details"))
    cached = as_count(into.get("cached_tokens")) or as_count(usage.get("prompt_cache_hit_tokens")) or 0
    written = as_count(into.get("cache_write_tokens")) or 0
    output = max(completion, (as_count(usage.get("total_tokens")) or 0) - prompt)
    cached = min(cached, prompt)
    return Usage(
        input_tokens=prompt,
        cached_tokens=cached,
        cache_write_tokens=min(written, prompt - cached),
        output_tokens=output,
        reasoning_tokens=min(as_count(out.get("reasoning_tokens")) or 0, output),
    )

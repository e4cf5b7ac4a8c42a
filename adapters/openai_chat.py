"""The OpenAI chat-completions wire format, as OpenAI and the many hosts that copied it speak it.

Reference: the chat object of OpenAI's API reference; the departures of DeepSeek, OpenRouter, vLLM, xAI and others are
named where they are read.
"""

from __future__ import annotations

import time
from collections.abc import Callable
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
from .errors import complaint, complaint_of, read_error, read_redirect
from .headers import limit_hint, retry_after
from .wirejson import as_count, as_list, as_object, as_text, canonical, decode, encode

MaxTokensField = Literal["max_completion_tokens", "max_tokens"]

_SAME_NAME = frozenset({"temperature", "seed", "reasoning_effort"})

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


class OpenAIChat:
    """Chat completions as pure functions over bytes.

    `max_tokens_field` is how this host spells the option `max_tokens`: OpenAI's reasoning models accept only
    `max_completion_tokens`, most other hosts only `max_tokens`. `clock` gives Unix seconds, for dates in `retry-after`.
    """

    def __init__(
        self, *, max_tokens_field: MaxTokensField = "max_completion_tokens", clock: Callable[[], float] = time.time
    ) -> None:
        self._max_tokens_field = max_tokens_field
        self._clock = clock

    def build(self, question: Question) -> WireRequest:
        """Return the bytes that ask `question`.

        Besides our own options, `extra` is an object whose members are sent as they are. ConfigurationError for an
        option that this format cannot express.
        """
        fields: dict[str, Json] = {
            "model": question.model,
            "messages": [{"role": message.role, "content": message.content} for message in question.messages],
        }
        for name, value in question.options.items():
            for field, written in self._option(name, value).items():
                if field in fields:
                    raise ConfigurationError(f"the options set `{field}` twice; take it out of `extra`.")
                fields[field] = written
        return WireRequest(path="/chat/completions", body=encode({name: fields[name] for name in sorted(fields)}))

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        """Return the bearer header, or nothing for a host without a key."""
        return (("authorization", f"Bearer {key.reveal()}"),) if key else ()

    def read(self, reply: WireReply, question: Question) -> Reply:
        """Classify a complete reply; never raises, whatever the body holds."""
        if 300 <= reply.status < 400:
            return read_redirect(reply.status, reply.headers.get("location", ""))
        wait = retry_after(reply.headers, self._clock())
        if not 200 <= reply.status < 300:
            return read_error(reply.status, complaint(reply.body), wait)
        try:
            body = as_object(decode(reply.body))
        except ValueError:
            return _malformed(reply, f"{len(reply.body)} bytes that are not JSON")
        if body.get("error"):
            said = complaint_of(body)
            return read_error(said.status, said, wait, paid=True)
        return _read_choice(reply, body)

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        """Return what the `x-ratelimit-*` headers say of requests and tokens."""
        found = (limit_hint(reply.headers, "requests"), limit_hint(reply.headers, "tokens"))
        return tuple(hint for hint in found if hint is not None)

    def _option(self, name: str, value: Json) -> dict[str, Json]:
        """Return the fields of the request that one of our options becomes."""
        if name == "max_tokens":
            return {self._max_tokens_field: value}
        if name == "json_schema":
            # Models write the members in the schema's own order, so that this object alone is not sorted.
            schema: dict[str, Json] = {"name": "answer", "schema": value, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        if name == "extra" and isinstance(value, dict):
            return as_object(canonical(value))
        if name in _SAME_NAME:
            return {name: value}
        raise ConfigurationError(
            f"chat completions have no option `{name}`; what a host takes beyond the usual goes into the table `extra`."
        )


def _read_choice(reply: WireReply, body: dict[str, Json]) -> Reply:
    """Read the first choice: text, finish reason, refusal, reasoning."""
    choices = as_list(body.get("choices"))
    choice = as_object(choices[0]) if choices else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        return _malformed(reply, "a reply without a message")
    content = message.get("content")
    if not isinstance(content, str | list | None):
        return _malformed(reply, "a message whose content is neither text nor parts")
    reason = as_text(choice.get("finish_reason"))
    if kind := _BROKEN_OFF.get(reason):
        said = complaint_of(choice).message
        return Fault(kind=kind, message=f"broken off ({reason}): {said}", status=reply.status, paid=True)
    refusal = as_text(message.get("refusal")) or _parts(content, "refusal")
    finish = "refused" if refusal else _FINISHES.get(reason, "stop")
    return Answer(
        text=content if isinstance(content, str) else _parts(content, "text"),
        model=as_text(body.get("model")),
        usage=_read_usage(body.get("usage")),
        finish=finish,
        reasoning=_read_reasoning(message),
        detail=refusal or ("" if reason in ("stop", "length") else reason),
    )


def _read_reasoning(message: dict[str, Json]) -> str:
    """Return the reasoning that came beside the text: DeepSeek and xAI, OpenRouter and vLLM, then Mistral's parts."""
    told = as_text(message.get("reasoning_content")) or as_text(message.get("reasoning"))
    if told:
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


def _malformed(reply: WireReply, what: str) -> Fault:
    """Return the fault for a 200 that holds no answer: it may have been billed."""
    return Fault(kind="malformed", message=f"HTTP {reply.status}: {what}", status=reply.status, paid=True)

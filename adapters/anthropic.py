"""Anthropic's Messages wire format.

Reference: "Create a Message", "Errors", "Rate limits", "Thinking" and "Versions" of platform.claude.com. Only text
blocks are the answer; thinking is kept apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .base import (
    Answer,
    ConfigurationError,
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
from .errors import malformed, opened
from .headers import Resource, hint_of, retry_after, server_time, timestamp, until_reset
from .wirejson import as_count, as_list, as_object, as_text, by_name, canonical, encode, merge

VERSION: Final = "2026-10-21"
SAMPLING_VERSION: Final = "2023-06-01"
"""The last version that takes `temperature`; the one above answers it with a 400."""

_FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicMessages:
    """Messages as pure functions over bytes.

    `root` stands before `/messages`: Anthropic's base URL, unlike OpenAI's, ends before the version. `schemas` says
    whether the host holds an answer to a schema: llama.cpp's server passes over it without a word. `clock` gives Unix
    seconds, which the moments in the headers are counted from.
    """

    root: str = "/v1"
    schemas: bool = True
    clock: Callable[[], float] = time.time

    def build(self, question: Question) -> WireRequest:
        """Return the bytes that ask `question`; ConfigurationError for an option that this format cannot express."""
        if "max_tokens" not in question.options:
            raise ConfigurationError(
                "the Messages API asks for `max_tokens` with every request: set it (--max-tokens)."
            )
        if "json_schema" in question.options and not self.schemas:
            raise ConfigurationError(
                "this host's form of the Messages API takes no `json_schema`; its chat format does."
            )
        fields: dict[str, Json] = {
            "model": question.model,
            "messages": [
                {"role": message.role, "content": message.content}
                for message in question.messages
                if message.role != "system"
            ],
        }
        if system := [message.content for message in question.messages if message.role == "system"]:
            fields["system"] = "\n\n".join(system)
        for name in sorted(question.options):
            merge(fields, _option(name, question.options[name]))
        version = SAMPLING_VERSION if "temperature" in fields else VERSION
        headers = (("content-type", "application/json"), ("anthropic-version", version))
        return WireRequest(path=f"{self.root}/messages", body=encode(by_name(fields)), headers=headers)

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        """Return the header that carries the key, or nothing for a host without one."""
        return (("x-api-key", key.reveal()),) if key else ()

    def read(self, reply: WireReply, question: Question) -> Reply:
        """Classify a complete reply; never raises, whatever the body holds."""
        wait = retry_after(reply.headers, self.clock())
        body = opened(reply, until_reset(self.hints(reply)) if wait is None else wait)
        return _read_message(reply, body) if isinstance(body, dict) else body

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        """Return what the `anthropic-ratelimit-*` headers say of requests and tokens.

        `tokens` stands for the tightest of the limits on tokens; where it is missing, input tokens do.
        """
        found = (
            self._hint(reply, "requests", "requests"),
            self._hint(reply, "tokens", "tokens") or self._hint(reply, "input-tokens", "tokens"),
        )
        return tuple(hint for hint in found if hint is not None)

    def _hint(self, reply: WireReply, name: str, resource: Resource) -> LimitHint | None:
        limit, remaining, reset = (
            reply.headers.get(f"anthropic-ratelimit-{name}-{part}", "") for part in ("limit", "remaining", "reset")
        )
        if (moment := timestamp(reset)) is None:
            return hint_of(resource, limit, remaining, None)
        return hint_of(resource, limit, remaining, max(0.0, moment - server_time(reply.headers, self.clock())))


def _option(name: str, value: Json) -> dict[str, Json]:
    """Return the fields of the request that one of our options becomes."""
    match name:
        case "max_tokens" | "temperature":
            return {name: value}
        case "thinking":
            return {"thinking": {"type": value}}
        case "thinking_budget":
            return {"thinking": {"type": "enabled", "budget_tokens": value}}
        case "reasoning_effort":
            return {"output_config": {"effort": value}}
        case "json_schema":
            return {"output_config": {"format": {"type": "json_schema", "schema": value}}}
        case "extra" if isinstance(value, dict):
            if as_object(value.get("cache_control")).get("ttl") not in (None, "5m"):
                raise ConfigurationError(
                    "cache writes are priced for five minutes: leave `ttl` out of `cache_control`."
                )
            return as_object(canonical(value))
        case _:
            raise ConfigurationError(
                f"the Messages API has no option `{name}`; what it takes beyond the usual goes into the table `extra`."
            )


def _read_message(reply: WireReply, body: dict[str, Json]) -> Reply:
    """Read the content blocks: text is the answer, thinking is not."""
    if not isinstance(body.get("content"), list):
        return malformed(reply, "a message without content")
    blocks = [as_object(block) for block in as_list(body.get("content"))]
    reason = as_text(body.get("stop_reason"))
    details = as_object(body.get("stop_details"))
    told = as_text(details.get("explanation")) or as_text(details.get("category"))
    return Answer(
        text=_texts(blocks, "text"),
        model=as_text(body.get("model")),
        usage=_read_usage(body.get("usage")),
        finish=_FINISHES.get(reason, "stop"),
        reasoning=_texts(blocks, "thinking"),
        detail=told or ("" if reason in ("end_turn", "stop_sequence", "max_tokens") else reason),
    )


def _texts(blocks: list[dict[str, Json]], kind: str) -> str:
    """Return what the blocks of one type say; a block holds its text under the name of its type."""
    return "".join(as_text(block.get(kind)) for block in blocks if block.get("type") == kind)


def _read_usage(value: Json) -> Usage | None:
    """Return the tokens as counted, or None when the main counts are missing.

    `input_tokens` counts only what was neither read from the cache nor written to it.
    """
    usage = as_object(value)
    plain, output = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    if plain is None or output is None:
        return None
    read = as_count(usage.get("cache_read_input_tokens")) or 0
    written = as_count(usage.get("cache_creation_input_tokens")) or 0
    thinking = as_count(as_object(usage.get("output_tokens_details")).get("thinking_tokens")) or 0
    return Usage(
        input_tokens=plain + read + written,
        cached_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=min(thinking, output),
    )

"""OpenAI's Responses wire format, which some of its models speak alone.

Reference: "Create a model response" and "The response object" of OpenAI's API reference. Nothing is stored at the
provider (`store: false`), and no earlier response is built upon: a question carries its whole chat.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from .base import (
    Answer,
    ConfigurationError,
    Fault,
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
from .headers import bearer, rate_hints, retry_after
from .openai_chat import schema_format
from .wirejson import as_count, as_list, as_object, as_text, by_name, canonical, encode, merge

_CUTS: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "refused"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIResponses:
    """Responses as pure functions over bytes.

    `copied` is for hosts that copied the format as llama.cpp's server did: that one looks for a schema where chat
    completions have it, and calls a response `completed` that it cut at its limit. `clock` gives Unix seconds, for
    dates in `retry-after`.
    """

    copied: bool = False
    clock: Callable[[], float] = time.time

    def build(self, question: Question) -> WireRequest:
        """Return the bytes that ask `question`; ConfigurationError for an option that this format cannot express."""
        options = dict(question.options)
        system = options.pop("system_role", "system")
        fields: dict[str, Json] = {
            "model": question.model,
            "store": False,
            "input": [
                {
                    "type": "message",  # may be left out at OpenAI; llama.cpp refuses an earlier answer without it
                    "role": system if message.role == "system" else message.role,
                    "content": message.content,
                }
                for message in question.messages
            ],
        }
        if self.copied and "json_schema" in options:
            fields["response_format"] = schema_format(options["json_schema"])
        for name in sorted(options):
            merge(fields, _option(name, options[name]))
        return WireRequest(path="/responses", body=encode(by_name(fields)))

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        """Return the bearer header, or nothing for a host without a key."""
        return bearer(key)

    def read(self, reply: WireReply, question: Question) -> Reply:
        """Classify a complete reply; never raises, whatever the body holds."""
        body = opened(reply, retry_after(reply.headers, self.clock()))
        if not isinstance(body, dict):
            return body
        answer = _read_response(reply, body)
        return _cut_at_limit(answer, question) if self.copied else answer

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        """Return what the `x-ratelimit-*` headers say of requests and tokens."""
        return rate_hints(reply.headers)


def _option(name: str, value: Json) -> dict[str, Json]:
    """Return the fields of the request that one of our options becomes."""
    match name:
        case "max_tokens":
            return {"max_output_tokens": value}
        case "temperature":
            return {"temperature": value}
        case "reasoning_effort":
            return {"reasoning": {"effort": value}}
        case "json_schema":
            return {"text": {"format": {"type": "json_schema", "name": "answer", "schema": value, "strict": True}}}
        case "extra" if isinstance(value, dict):
            return as_object(canonical(value))
        case _:
            raise ConfigurationError(
                f"the Responses API has no option `{name}`; what it takes beyond the usual goes into the table `extra`."
            )


def _read_response(reply: WireReply, body: dict[str, Json]) -> Reply:
    """Read the output items: text, refusal and reasoning, each kept apart."""
    status = as_text(body.get("status"))
    if status not in ("completed", "incomplete"):
        return malformed(reply, f"a response whose status is {status[:40]!r}")
    reason = as_text(as_object(body.get("incomplete_details")).get("reason"))
    if status == "incomplete" and reason not in _CUTS:
        # Not the model's doing, so that it is no answer: ask again.
        return Fault(
            kind="server", message=f"broken off ({reason[:40] or 'no reason'})", status=reply.status, paid=True
        )
    if not isinstance(body.get("output"), list):
        return malformed(reply, "a response without output")
    items = [as_object(item) for item in as_list(body.get("output"))]
    messages = [item for item in items if item.get("type") == "message"]
    answers = [item for item in messages if item.get("phase") != "commentary"]
    refusal = _texts(answers, "content", "refusal")
    return Answer(
        text=_texts(answers, "content", "text"),
        model=as_text(body.get("model")),
        usage=_read_usage(body.get("usage")),
        finish="refused" if refusal else _CUTS.get(reason, "stop"),
        reasoning=_read_reasoning(items),
        detail=refusal or (reason if reason == "content_filter" else ""),
    )


def _cut_at_limit(answer: Reply, question: Question) -> Reply:
    """Return a whole answer as a cut one when it is as long as the question allowed."""
    limit = question.options.get("max_tokens")
    if not isinstance(answer, Answer) or answer.usage is None or not isinstance(limit, int):
        return answer
    return replace(answer, finish="length") if answer.usage.output_tokens >= limit else answer


def _read_reasoning(items: list[dict[str, Json]]) -> str:
    """Return the reasoning items' own text where it comes, else their summaries; and what is said on the way."""
    thoughts = [item for item in items if item.get("type") == "reasoning"]
    commentary = [item for item in items if item.get("phase") == "commentary"]
    told = _texts(thoughts, "content", "text") or _texts(thoughts, "summary", "text")
    return told + _texts(commentary, "content", "text")


def _texts(items: list[dict[str, Json]], parts: str, kind: str) -> str:
    """Return the strings under `kind` in the lists that the items have under `parts`, joined."""
    return "".join(as_text(as_object(part).get(kind)) for item in items for part in as_list(item.get(parts)))


def _read_usage(value: Json) -> Usage | None:
    """Return the tokens as counted, or None when the main counts are missing."""
    usage = as_object(value)
    prompt, output = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    if prompt is None or output is None:
        return None
    into, out = as_object(usage.get("input_tokens_details")), as_object(usage.get("output_tokens_details"))
    cached = min(as_count(into.get("cached_tokens")) or 0, prompt)
    return Usage(
        input_tokens=prompt,
        cached_tokens=cached,
        cache_write_tokens=min(as_count(into.get("cache_write_tokens")) or 0, prompt - cached),
        output_tokens=output,
        reasoning_tokens=min(as_count(out.get("reasoning_tokens")) or 0, output),
    )

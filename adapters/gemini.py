"""Google's generateContent wire format, as the Gemini API speaks it.

Reference: "Generating content", "Thinking", "Structured outputs" and "Troubleshooting" of ai.google.dev. The model
stands in the path, not in the body; limits are told in no header, only in the body of a 429.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from .base import (
    Answer,
    ConfigurationError,
    Fatal,
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
from .headers import retry_after
from .wirejson import as_count, as_list, as_object, as_text, by_name, canonical, encode, merge

_FINISHES: dict[str, Finish] = {
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "LANGUAGE": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "MODEL_ARMOR": "refused",
    "ESCALATION": "refused",
    "OTHER": "refused",  # stopped for a reason that Google does not name
}
_ACCOUNT_LIMITED = "PUP_LIMITED_DISABLED"
_NO_ANSWER = "MALFORMED_RESPONSE"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiContent:
    """generateContent as pure functions over bytes.

    `root` stands before `/models`: the base URL ends before the version. `clock` gives Unix seconds, for dates in
    `retry-after`.
    """

    root: str = "/v1beta"
    clock: Callable[[], float] = time.time

    def build(self, question: Question) -> WireRequest:
        """Return the bytes that ask `question`; ConfigurationError for an option that this format cannot express."""
        fields: dict[str, Json] = {
            "contents": [
                {"role": "model" if message.role == "assistant" else "user", "parts": [{"text": message.content}]}
                for message in question.messages
                if message.role != "system"
            ],
        }
        system: list[Json] = [{"text": message.content} for message in question.messages if message.role == "system"]
        if system:
            fields["systemInstruction"] = {"parts": system}
        for name in sorted(question.options):
            merge(fields, _option(name, question.options[name]))
        path = f"{self.root}/models/{quote(question.model, safe='')}:generateContent"
        return WireRequest(path=path, body=encode(by_name(fields)))

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        """Return the header that carries the key, or nothing for a host without one."""
        return (("x-goog-api-key", key.reveal()),) if key else ()

    def read(self, reply: WireReply, question: Question) -> Reply:
        """Classify a complete reply; never raises, whatever the body holds."""
        body = opened(reply, retry_after(reply.headers, self.clock()))
        return _read_content(reply, body) if isinstance(body, dict) else body

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        """Return nothing: Gemini's headers do not speak of limits."""
        return ()


def _option(name: str, value: Json) -> dict[str, Json]:
    """Return the fields of the request that one of our options becomes."""
    match name:
        case "max_tokens":
            config: dict[str, Json] = {"maxOutputTokens": value}
        case "temperature" | "seed":
            config = {name: value}
        case "thinking_budget":
            config = {"thinkingConfig": {"thinkingBudget": value}}
        case "reasoning_effort":
            config = {"thinkingConfig": {"thinkingLevel": value}}
        case "json_schema":
            config = {"responseMimeType": "application/json", "responseJsonSchema": value}
        case "extra" if isinstance(value, dict):
            return as_object(canonical(value))
        case _:
            raise ConfigurationError(
                f"generateContent has no option `{name}`; what it takes beyond the usual goes into the table `extra`."
            )
    return {"generationConfig": config}


def _read_content(reply: WireReply, body: dict[str, Json]) -> Reply:
    """Read the first candidate, or why there is none."""
    usage, model = _read_usage(body.get("usageMetadata")), as_text(body.get("modelVersion"))
    feedback = as_object(body.get("promptFeedback"))
    candidates = as_list(body.get("candidates"))
    if not candidates and (blocked := as_text(feedback.get("blockReason"))):
        told = as_text(feedback.get("blockReasonMessage")) or blocked
        return Answer(text="", model=model, usage=usage, finish="refused", detail=f"content_filter: {told}")
    candidate = as_object(candidates[0]) if candidates else {}
    reason = as_text(candidate.get("finishReason"))
    if reason == _ACCOUNT_LIMITED:
        return Fatal(kind="key", message=f"HTTP {reply.status}: the account is limited ({reason})", status=reply.status)
    if reason == _NO_ANSWER or not (reason or isinstance(candidate.get("content"), dict)):
        return malformed(reply, f"no candidate with an answer ({reason or 'and no reason'})")
    parts = [as_object(part) for part in as_list(as_object(candidate.get("content")).get("parts"))]
    finish = "refused" if reason.startswith("IMAGE_") else _FINISHES.get(reason, "stop")
    return Answer(
        text="".join(as_text(part.get("text")) for part in parts if part.get("thought") is not True),
        model=model,
        usage=usage,
        finish=finish,
        reasoning="".join(as_text(part.get("text")) for part in parts if part.get("thought") is True),
        detail="" if reason in ("STOP", "MAX_TOKENS") else as_text(candidate.get("finishMessage")) or reason,
    )


def _read_usage(value: Json) -> Usage | None:
    """Return the tokens as counted, or None when the count of the prompt is missing.

    Thoughts are counted beside the candidates and billed as output; a blocked answer has no candidates to count.
    """
    usage = as_object(value)
    prompt = as_count(usage.get("promptTokenCount"))
    if prompt is None:
        return None
    prompt += as_count(usage.get("toolUsePromptTokenCount")) or 0
    thoughts = as_count(usage.get("thoughtsTokenCount")) or 0
    spoken = as_count(usage.get("candidatesTokenCount")) or 0
    return Usage(
        input_tokens=prompt,
        cached_tokens=min(as_count(usage.get("cachedContentTokenCount")) or 0, prompt),
        output_tokens=max(spoken + thoughts, (as_count(usage.get("totalTokenCount")) or 0) - prompt),
        reasoning_tokens=thoughts,
    )

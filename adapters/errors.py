"""Error replies: what the body complains of, and what follows from the status. Shared by all protocols."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .base import Answer, Fatal, FatalKind, Fault, FaultKind, Json, Reply, Usage
from .wirejson import as_list, as_object, as_text, decode

_FAULTS: dict[int, FaultKind] = {
    408: "timeout",
    409: "server",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}
_FATALS: dict[int, FatalKind] = {401: "key", 402: "quota", 403: "key", 404: "not_found", 410: "not_found"}

_REFUSABLE = frozenset({400, 403, 413, 422})
"""Statuses with which providers decline one question: 403 is moderation at OpenRouter and length at Together."""

_REFUSALS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "context_length",
        re.compile(
            r"context_length|context_size|maximum context length|maximum prompt length|available context size"
            r"|range of input length|context length of the model|reduce the length of the messages|request_too_large"
        ),
    ),
    (
        "content_filter",
        re.compile(r"content_filter|content_policy|data_?inspection|invalid_prompt|moderation|flagged"),
    ),
)
_TOO_MANY_ASKED = re.compile(r"max_(completion_)?tokens is too large")
"""The same words about the context, but the option is at fault and not the question."""

_QUOTA = re.compile(r"insufficient_quota|insufficient_balance|billing")

_STATUS_OF_CODE = {
    "invalid_api_key": 401,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "model_not_found": 404,
    "context_length_exceeded": 400,
    "content_filter": 400,
    "overloaded_error": 529,
}
_SECRET = re.compile(r"[\w*.-]{20,}")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an error body says: the provider's sentence, and its codes and types joined in lower case."""

    message: str
    codes: str = ""

    @property
    def refusal(self) -> str:
        """Return why this very question was declined (`context_length`, `content_filter`), or an empty string."""
        said = f"{self.codes} {self.message}".lower()
        if _TOO_MANY_ASKED.search(said):
            return ""
        return next((reason for reason, words in _REFUSALS if words.search(said)), "")

    @property
    def quota(self) -> bool:
        """Whether the account is out of money. Codes decide: Gemini says "quota" of its per-minute limits too."""
        return bool(_QUOTA.search(self.codes))

    @property
    def status(self) -> int:
        """Return the HTTP status that the codes stand for, for an error that came with a 200; 500 if unknown."""
        for code in self.codes.split():
            if code in _STATUS_OF_CODE:
                return _STATUS_OF_CODE[code]
            if re.fullmatch(r"[3-5][0-9]{2}", code):
                return int(code)
        return 500


def complaint(body: bytes) -> Complaint:
    """Return what an error body says, whichever of the usual shapes it has; plain text and HTML are quoted."""
    raw = _short(body[: 4 * _LONGEST].decode("utf-8", "replace"))
    try:
        value = decode(body)
    except ValueError:
        return Complaint(raw)
    # Gemini's compatible endpoint wraps the object in an array.
    return complaint_of(as_list(value)[0] if as_list(value) else value, raw)


def complaint_of(value: Json, raw: str = "no message") -> Complaint:
    """Return what an error object says: `{"error": {…}}`, `{"error": "…"}`, or the parts at the top; else `raw`."""
    top = as_object(value)
    inner = as_object(top.get("error"))
    parts = inner or top
    messages = (as_text(parts.get("message")), as_text(top.get("error")), as_text(top.get("detail")))
    codes = (parts.get("code"), parts.get("type"), parts.get("status"))
    return Complaint(
        message=_short(next((message for message in messages if message), raw)),
        codes=" ".join(str(code).lower() for code in codes if isinstance(code, str | int)),
    )


def read_error(status: int, said: Complaint, wait: float | None, *, paid: bool = False) -> Reply:
    """Return what an error status means for the question: `wait` is what the server asked for, in seconds.

    `paid` is True for an error that came inside a 200: the work may have been done and billed.
    """
    if status in _REFUSABLE and (reason := said.refusal):
        return Answer(
            text="", model="", usage=None if paid else Usage(), finish="refused", detail=f"{reason}: {said.message}"
        )
    text = f"HTTP {status}: {said.message}"
    if status in (403, 429) and said.quota:
        return Fatal(kind="quota", message=text, status=status)
    if kind := _FATALS.get(status):
        return Fatal(kind=kind, message=_SECRET.sub("***", text) if kind == "key" else text, status=status)
    if status in _FAULTS or status >= 500:
        kind = _FAULTS.get(status, "server")
        return Fault(kind=kind, message=text, status=status, retry_after=wait, paid=paid)
    if status < 200:
        return Fault(kind="malformed", message=text, status=status, retry_after=wait, paid=True)
    return Fatal(kind="bad_request", message=text, status=status)


def read_redirect(status: int, location: str) -> Fatal:
    """Return what a redirect means: it is not followed, because the question would be posted twice."""
    where = _short(location.partition("?")[0]) or "an unnamed place"
    return Fatal(
        kind="bad_request",
        message=f"HTTP {status}: the base URL redirects to {where}, and redirects are not followed. Set the base URL "
        "to the place it leads to.",
        status=status,
    )


def _short(text: str) -> str:
    """Return `text` on one line, bounded, as an error message can hold it."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"

"""Error replies: what the body complains of, and what follows from the status. Shared by all protocols."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .base import Answer, Fatal, FatalKind, Fault, FaultKind, Json, Reply, Usage, WireReply
from .headers import duration
from .printable import printable
from .wirejson import as_list, as_object, as_text, decode

_FAULTS: dict[int, FaultKind] = {
    408: "timeout",
    409: "server",
    424: "server",  # Bedrock: the model failed
    429: "rate_limit",
    498: "overloaded",  # Groq: the flex tier is full
    503: "overloaded",
    504: "timeout",
    524: "timeout",  # Cloudflare
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
            r"|prompt is too long|input is too long|exceed context limit|exceeds the maximum number of tokens"
            r"|context window|`max_new_tokens` must be <="
        ),
    ),
    (
        "content_filter",
        re.compile(
            r"content_filter|content_policy|content filtering|data_?inspection|invalid_prompt|moderation|flagged"
            r"|bio_policy|policy_violation"
        ),
    ),
)
_TOO_MANY_ASKED = re.compile(r"max_(completion_)?tokens is too large")
"""The same words about the context, but the option is at fault and not the question."""

_QUOTA = re.compile(
    r"insufficient_quota|insufficient_balance|credit_balance_exhausted|billing|arrearage|freetieronly|perday"
)
"""In codes. `perday` stands in the ids of Gemini's quotas: tomorrow is too late for a run to wait for."""
_NO_MONEY = re.compile(
    r"credit balance is too low|reached your specified api usage limits|used all available credits"
    r"|account is in good standing|\blimit: 0\b(?![.,]\d)"
)
"""In sentences whose codes say nothing: Anthropic, xAI, DashScope, and a Gemini model without a free tier."""
_BAD_KEY = re.compile(r"api_key_invalid|invalid_?api_?key|api key not valid|incorrect api key|api key expired")
_NEVER_FITS = re.compile(r"request too large for")
"""A question larger than a whole minute's tokens: OpenAI calls it a rate limit, but no wait lets it through."""

_STATUS_OF_CODE = {
    "invalid_api_key": 401,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "model_not_found": 404,
    "context_length_exceeded": 400,
    "content_filter": 400,
    "invalid_prompt": 400,
    "bio_policy": 400,
    "misalignment_policy_violation": 400,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "timeout_error": 504,
}
_SECRET = re.compile(r"[\w*.-]{20,}")
_LONGEST = 500
_QUOTED = 80


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an error body says: the provider's sentence, its codes and types in lower case, and the seconds to wait."""

    message: str
    codes: str = ""
    wait: float | None = None

    @property
    def refusal(self) -> str:
        """Return why this very question was declined (`context_length`, `content_filter`), or an empty string."""
        said = f"{self.codes} {self.message}".lower()
        if _TOO_MANY_ASKED.search(said):
            return ""
        return next((reason for reason, words in _REFUSALS if words.search(said)), "")

    @property
    def quota(self) -> bool:
        """Whether the account is out of money, or of its day. Gemini says "quota" of its per-minute limits too."""
        return bool(_QUOTA.search(self.codes) or _NO_MONEY.search(self.message.lower()))

    @property
    def bad_key(self) -> bool:
        """Whether the key is not known; Gemini and xAI say so with a 400."""
        return bool(_BAD_KEY.search(f"{self.codes} {self.message}".lower()))

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
    """Return what an error object says: `{"error": {…}}`, `{"error": "…"}`, or the parts at the top; else `raw`.

    Google adds `details`: reasons, the ids of exhausted quotas, and how long to wait (google.rpc error details).
    """
    top = as_object(value)
    inner = as_object(top.get("error"))
    parts = inner or top
    messages = (as_text(parts.get("message")), as_text(top.get("error")), as_text(top.get("detail")))
    details = [as_object(detail) for detail in as_list(parts.get("details"))]
    violations = [as_object(one) for detail in details for one in as_list(detail.get("violations"))]
    codes = (
        *(parts.get(name) for name in ("code", "type", "status")),
        *(detail.get("reason") for detail in details),
        *(violation.get("quotaId") for violation in violations),
    )
    waits = [wait for detail in details if (wait := duration(as_text(detail.get("retryDelay")))) is not None]
    return Complaint(
        message=_short(next((message for message in messages if message), raw)),
        codes=" ".join(str(code).lower() for code in codes if isinstance(code, str | int)),
        wait=max(waits, default=None),
    )


def opened(reply: WireReply, wait: float | None) -> dict[str, Json] | Reply:
    """Return the object that a successful reply holds, or what a redirect, an error or a broken body means."""
    if 300 <= reply.status < 400:
        return read_redirect(reply.status, reply.headers.get("location", ""))
    if not 200 <= reply.status < 300:
        return read_error(reply.status, complaint(reply.body), wait)
    try:
        body = as_object(decode(reply.body))
    except ValueError:
        return malformed(reply, _not_json(reply.body))
    if body.get("error"):
        said = complaint_of(body)
        return read_error(said.status, said, wait, paid=True)
    return body


def _not_json(body: bytes) -> str:
    """Say how large a body is that is not JSON; what does not even begin like it is quoted: a page of another place."""
    size = f"{len(body)} bytes that are not JSON"
    line = _SECRET.sub("***", " ".join(body[: 4 * _LONGEST].decode("utf-8", "replace").split()))
    begins = "".join(filter(str.isprintable, line))[:_QUOTED]
    if not begins or begins.startswith(("{", "[")):
        return size
    return f"{size}, beginning {begins!r}. Is the base URL right (often it ends in /v1)?"


def malformed(reply: WireReply, what: str) -> Fault:
    """Return the fault for a success that holds no answer: it may have been billed."""
    return Fault(kind="malformed", message=f"HTTP {reply.status}: {what}", status=reply.status, paid=True)


def read_error(status: int, said: Complaint, wait: float | None, *, paid: bool = False) -> Reply:
    """Return what an error status means for the question: `wait` is what the server asked for, in seconds.

    `paid` is True for an error that came inside a 200: the work may have been done and billed.
    """
    if fatal := _account_trouble(status, said):
        return fatal
    if status in _REFUSABLE and (reason := said.refusal):
        return Answer(
            text="", model="", usage=None if paid else Usage(), finish="refused", detail=f"{reason}: {said.message}"
        )
    text = f"HTTP {status}: {said.message}"
    if kind := _FATALS.get(status):
        return Fatal(kind=kind, message=_SECRET.sub("***", text) if kind == "key" else text, status=status)
    if status == 429 and _NEVER_FITS.search(said.message.lower()):
        return Fatal(kind="bad_request", message=text, status=status)
    wait = said.wait if wait is None else wait
    if status in _FAULTS or status >= 500:
        kind = _FAULTS.get(status, "server")
        return Fault(kind=kind, message=text, status=status, retry_after=wait, paid=paid)
    if status < 200:
        return Fault(kind="malformed", message=text, status=status, retry_after=wait, paid=True)
    return Fatal(kind="bad_request", message=text, status=status)


def _account_trouble(status: int, said: Complaint) -> Fatal | None:
    """Return what is wrong with the account itself, whatever status it was told with."""
    text = f"HTTP {status}: {said.message}"
    if status in (400, 403) and said.bad_key:
        return Fatal(kind="key", message=_SECRET.sub("***", text), status=status)
    if status in (400, 403, 429) and said.quota:
        return Fatal(kind="quota", message=text, status=status)
    return None


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
    """Return `text` on one line, bounded, and as an error message can hold it: it will be shown on a terminal."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"

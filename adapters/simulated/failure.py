"""Why a request gets no answer, before a wire format has put it into its provider's words."""

from __future__ import annotations

from typing import Literal, TypeAlias

FailureKind: TypeAlias = Literal[
    "bad_request", "key", "not_found", "too_large", "context_length", "content_filter",
    "requests", "tokens", "concurrent", "quota", "server", "overloaded", "gateway",
]  # fmt: skip
"""`requests`, `tokens` and `concurrent` name the limit that was hit; `gateway`
is an error of a machine before the provider, which does not speak its protocol."""

STATUS: dict[FailureKind, int] = {
    "bad_request": 400, "key": 401, "not_found": 404, "too_large": 413, "context_length": 400, "content_filter": 400,
    "requests": 429, "tokens": 429, "concurrent": 429, "quota": 429, "server": 500, "overloaded": 529,
    "gateway": 502,
}  # fmt: skip


class Failure(Exception):
    """A request that gets an error instead of an answer. `retry_after` is in seconds."""

    def __init__(
        self, kind: FailureKind, message: str, *, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        self.retry_after = retry_after
        self.status = STATUS[kind] if status is None else status

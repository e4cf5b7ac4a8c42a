"""OpenAI's Batch API, for chat completions and responses.

Reference: "Batch", "Files" and the guide to the Batch API of OpenAI's documentation. A batch is made from an uploaded
file of JSON lines; its results are two more files, of replies and of errors, each present only when it is not empty.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from ..base import Answer, Fatal, Fault, Json, WireReply, WireRequest
from ..errors import Complaint, complaint_of, read_error
from ..wirejson import as_list, as_object, as_text, encode
from .base import (
    SLACK,
    Batch,
    BatchItem,
    BatchRefused,
    Fetch,
    ItemReply,
    Sought,
    lines_in,
    marks_of,
    never_ran,
    object_in,
)

TOKEN: Final = "turntide"
"""The name in a batch's metadata under which it carries our token."""

_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_NEVER_RAN: Final = frozenset({"batch_expired", "batch_cancelled"})
_PAGE: Final = 100
_FULL: Final = "token_limit_exceeded"
_FULL_WAIT: Final = 60.0
"""Seconds to wait when an account has no room for more tokens in its queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIBatches:
    """Batches as OpenAI makes them. `root` stands before a path where a batch file names it."""

    root: str = "/v1"
    most_items: int = 50_000
    most_bytes: int = 200_000_000

    def takes(self, path: str) -> bool:
        """See `BatchFormat.takes`."""
        return path in ("/chat/completions", "/responses")

    async def submit(self, fetch: Fetch, token: str, items: Sequence[BatchItem]) -> Batch:
        """Upload the items as a file and make a batch of it."""
        endpoint = self.root + items[0].request.path
        head = b'","method":"POST","url":"' + endpoint.encode() + b'","body":'
        lines = (b'{"custom_id":"' + item.id.encode() + head + item.request.body + b"}\n" for item in items)
        file = object_in(await fetch(_upload(token, lines)))
        fields: dict[str, Json] = {
            "completion_window": "24h",
            "endpoint": endpoint,
            "input_file_id": as_text(file.get("id")),
            "metadata": {TOKEN: token},
        }
        return _read(object_in(await fetch(WireRequest("/batches", encode(fields)))))

    async def look(self, fetch: Fetch, batch_id: str) -> Batch:
        """See `BatchFormat.look`."""
        return _read(object_in(await fetch(_get(f"/batches/{quote(batch_id, safe='')}"))))

    async def find(self, fetch: Fetch, sought: Sought) -> list[Batch]:
        """Return the batch whose metadata holds the token, or nothing."""
        after = ""
        while True:
            page = object_in(await fetch(_get(f"/batches?limit={_PAGE}{after}")))
            listed = [as_object(entry) for entry in as_list(page.get("data"))]
            for entry in listed:
                if as_object(entry.get("metadata")).get(TOKEN) == sought.token:
                    return [_read(entry)]
            if not page.get("has_more") or not listed or _created(listed[-1]) < sought.since - SLACK:
                return []
            after = f"&after={quote(as_text(listed[-1].get('id')), safe='')}"

    async def replies(self, fetch: Fetch, batch: Batch) -> AsyncIterator[tuple[str, ItemReply]]:
        """See `BatchFormat.replies`."""
        for path in batch.sources:
            file = await fetch(_get(path))
            for line in lines_in(file):
                yield as_text(line.get("custom_id")), _item(line, marks_of(file))


def _get(path: str) -> WireRequest:
    return WireRequest(path, b"", headers=(), method="GET")


def _upload(token: str, lines: Iterable[bytes]) -> WireRequest:
    """Return the upload of a file as multipart/form-data (RFC 7578)."""
    edge = f"turntide-{token}"
    head = (
        f'--{edge}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f'--{edge}\r\ncontent-disposition: form-data; name="file"; filename="{edge}.jsonl"\r\n'
        "content-type: application/jsonl\r\n\r\n"
    )
    body = b"".join((head.encode(), *lines, f"\r\n--{edge}--\r\n".encode()))
    return WireRequest("/files", body, headers=(("content-type", f"multipart/form-data; boundary={edge}"),))


def _read(body: dict[str, Json]) -> Batch:
    """Return a batch object as ours; raises BatchRefused when it is none."""
    name, status = as_text(body.get("id")), as_text(body.get("status"))
    if not name or not status:
        raise BatchRefused(Fault(kind="malformed", message="a batch without an id or a status", paid=True))
    files = (as_text(body.get("output_file_id")), as_text(body.get("error_file_id")))
    return Batch(
        id=name,
        ended=status in _ENDED,
        how=status,
        token=as_text(as_object(body.get("metadata")).get(TOKEN)),
        sources=tuple(f"/files/{quote(file, safe='')}/content" for file in files if file),
        trouble=_trouble(body) if status == "failed" else None,
    )


def _trouble(body: dict[str, Json]) -> Fault | Fatal:
    """Return why a batch was not accepted: its file is at fault, or the account has no room."""
    errors = [as_object(error) for error in as_list(as_object(body.get("errors")).get("data"))]
    first = errors[0] if errors else {}
    said = complaint_of(first, "the batch failed without a reason")
    if as_text(first.get("code")) == _FULL:
        return Fault(kind="server", message=said.message, retry_after=_FULL_WAIT)
    read = read_error(400, Complaint(said.message, said.codes), None)
    return Fatal(kind="bad_request", message=read.detail) if isinstance(read, Answer) else read


def _created(body: dict[str, Json]) -> float:
    created = body.get("created_at")
    return float(created) if isinstance(created, int | float) else 0.0


def _item(line: dict[str, Json], marks: dict[str, str]) -> ItemReply:
    response = as_object(line.get("response"))
    status = response.get("status_code")
    if isinstance(status, int):
        return WireReply(status, marks, encode(response.get("body")))
    error = as_object(line.get("error"))
    message = as_text(error.get("message")) or "no message"
    if error.get("code") in _NEVER_RAN:
        return never_ran(message)
    return Fault(kind="server", message=message)

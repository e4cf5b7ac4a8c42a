"""Anthropic's Message Batches API.

Reference: "Message Batches" of platform.claude.com. The requests travel inside the call that makes the batch. Batches
carry no token of ours: one whose id was lost is told by its number of requests, its time, and the ids in its results.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ..anthropic import VERSION
from ..base import Fault, Json, WireReply, WireRequest
from ..errors import complaint_of
from ..headers import timestamp
from ..wirejson import as_count, as_list, as_object, as_text, encode
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

_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicBatches:
    """Batches as Anthropic makes them; `root` as in `AnthropicMessages`."""

    root: str = "/v1"
    most_items: int = 100_000
    most_bytes: int = 256_000_000

    def takes(self, path: str) -> bool:
        """See `BatchFormat.takes`."""
        return path == f"{self.root}/messages"

    async def submit(self, fetch: Fetch, token: str, items: Sequence[BatchItem]) -> Batch:
        """Make a batch of the items; the token is not sent."""
        requests = (b'{"custom_id":"' + item.id.encode() + b'","params":' + item.request.body + b"}" for item in items)
        body = b"".join((b'{"requests":[', b",".join(requests), b"]}"))
        return _read(object_in(await fetch(WireRequest(self._path, body, headers=items[0].request.headers))))

    async def look(self, fetch: Fetch, batch_id: str) -> Batch:
        """See `BatchFormat.look`."""
        return self._sourced(_read(object_in(await fetch(_get(f"{self._path}/{quote(batch_id, safe='')}")))))

    async def find(self, fetch: Fetch, sought: Sought) -> list[Batch]:
        """Return the batches of the same number of requests that were made at that time or later, the oldest first."""
        found: list[Batch] = []
        after = ""
        while True:
            page = object_in(await fetch(_get(f"{self._path}?limit={_PAGE}{after}")))
            listed = [as_object(entry) for entry in as_list(page.get("data"))]
            recent = [entry for entry in listed if _created(entry) >= sought.since - SLACK]
            alike = (_read(entry) for entry in recent if _items(entry) == sought.items)
            found += [self._sourced(batch) for batch in alike if batch.id not in sought.others]
            if not page.get("has_more") or not listed or len(recent) < len(listed):
                return found[::-1]
            after = f"&after_id={quote(as_text(listed[-1].get('id')), safe='')}"

    async def replies(self, fetch: Fetch, batch: Batch) -> AsyncIterator[tuple[str, ItemReply]]:
        """See `BatchFormat.replies`."""
        for path in batch.sources:
            file = await fetch(_get(path))
            for line in lines_in(file):
                yield as_text(line.get("custom_id")), _item(as_object(line.get("result")), marks_of(file))

    @property
    def _path(self) -> str:
        return f"{self.root}/messages/batches"

    def _sourced(self, batch: Batch) -> Batch:
        # Not `results_url`: the key goes to the account's own host and nowhere else.
        source = f"{self._path}/{quote(batch.id, safe='')}/results"
        return Batch(id=batch.id, ended=batch.ended, how=batch.how, sources=(source,))


def _get(path: str) -> WireRequest:
    return WireRequest(path, b"", headers=(("anthropic-version", VERSION),), method="GET")


def _read(body: dict[str, Json]) -> Batch:
    """Return a batch object as ours; raises BatchRefused when it is none."""
    name, status = as_text(body.get("id")), as_text(body.get("processing_status"))
    if not name or not status:
        raise BatchRefused(Fault(kind="malformed", message="a batch without an id or a status", paid=True))
    return Batch(id=name, ended=status == "ended", how=status)


def _created(body: dict[str, Json]) -> float:
    return timestamp(as_text(body.get("created_at"))) or 0.0


def _items(body: dict[str, Json]) -> int:
    return sum(as_count(count) or 0 for count in as_object(body.get("request_counts")).values())


def _item(result: dict[str, Json], marks: dict[str, str]) -> ItemReply:
    kind = as_text(result.get("type"))
    if kind == "succeeded":
        return WireReply(200, marks, encode(result.get("message")))
    if kind in ("expired", "canceled"):
        return never_ran(f"the batch {'expired' if kind == 'expired' else 'was canceled'} first")
    error = result.get("error")
    return WireReply(complaint_of(error).status, marks, encode(error))

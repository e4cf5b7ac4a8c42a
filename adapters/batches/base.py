"""What every batch API comes to: submit items, look after them, find them again, read the replies.

Like a wire format, a batch format opens no socket and holds no key: it is given a function that moves one request. What
comes back for one item is the reply that the same question would have got alone, for the wire format to read.
"""

from __future__ import annotations

import io
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from ..base import SIMULATED, Answer, Fatal, Fault, Json, WireReply, WireRequest
from ..errors import opened
from ..headers import retry_after
from ..wirejson import as_object, decode

Fetch: TypeAlias = Callable[[WireRequest], Awaitable[WireReply]]
"""Sends one request with the account's key and returns the complete reply; raises BatchRefused when none came."""

ItemReply: TypeAlias = WireReply | Fault
"""What one item got: the reply of its own, or the reason why it never ran."""


class BatchRefused(Exception):
    """A request about a batch got no useful reply."""

    def __init__(self, reply: Fault | Fatal) -> None:
        super().__init__(reply.message)
        self.reply = reply


class BatchItem(NamedTuple):
    """One question in a batch: `id` is unique in it, at most 64 letters, digits, `-` and `_`."""

    id: str
    request: WireRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch as its provider tells of it. `how` is the provider's own word for its state.

    `token` is what it was submitted with, or None where the provider keeps none; `sources` are the paths of its
    results; `trouble` says why none of its items ran.
    """

    id: str
    ended: bool
    how: str
    token: str | None = None
    sources: tuple[str, ...] = ()
    trouble: Fault | Fatal | None = None


class Sought(NamedTuple):
    """A batch that may or may not have been made: its token, its number of items, and when it was sent (Unix s).

    `others` are the ids of batches that are known to be something else.
    """

    token: str
    items: int
    since: float
    others: frozenset[str] = frozenset()


class BatchFormat(Protocol):
    """One provider's batch API."""

    @property
    def most_items(self) -> int:
        """Items that one batch may hold."""
        ...

    @property
    def most_bytes(self) -> int:
        """Bytes that one batch may hold."""
        ...

    def takes(self, path: str) -> bool:
        """Return whether requests to `path` can travel in its batches."""
        ...

    async def submit(self, fetch: Fetch, token: str, items: Sequence[BatchItem]) -> Batch:
        """Make a batch of `items`, which all have one path and the same headers. Raises BatchRefused."""
        ...

    async def look(self, fetch: Fetch, batch_id: str) -> Batch:
        """Return how a batch is doing. Raises BatchRefused."""
        ...

    async def find(self, fetch: Fetch, sought: Sought) -> list[Batch]:
        """Return the batches that may be the one sought: with its token, or, where there are none, all of its shape."""
        ...

    def replies(self, fetch: Fetch, batch: Batch) -> AsyncIterator[tuple[str, ItemReply]]:
        """Yield the replies of an ended batch by item, in any order. Raises BatchRefused."""
        ...


SLACK = 3600.0
"""Seconds by which the clocks of provider and client may differ when a batch is searched by its time."""


def object_in(reply: WireReply) -> dict[str, Json]:
    """Return the object that a reply holds; raises BatchRefused for an error."""
    read = opened(reply, retry_after(reply.headers, time.time()))
    if isinstance(read, dict):
        return read
    if isinstance(read, Answer):  # what would be the refusal of one question is a fault of the whole
        raise BatchRefused(
            Fatal(kind="bad_request", message=f"HTTP {reply.status}: {read.detail}", status=reply.status)
        )
    raise BatchRefused(read)


def lines_in(reply: WireReply) -> Iterator[dict[str, Json]]:
    """Yield the objects of a file of JSON lines; a line that is not one is left out. Raises BatchRefused."""
    if not 200 <= reply.status < 300:
        object_in(reply)
    for line in io.BytesIO(reply.body):
        try:
            yield as_object(decode(line))
        except ValueError:
            continue


def marks_of(reply: WireReply) -> dict[str, str]:
    """Return what a file of results says of each reply in it: that a simulated provider wrote them."""
    return {name: value for name, value in reply.headers.items() if name == SIMULATED}


def never_ran(why: str) -> Fault:
    """Return the fault of an item that its batch did not come to: it cost nothing, and may be sent again."""
    return Fault(kind="timeout", message=f"never ran: {why}")

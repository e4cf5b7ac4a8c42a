"""Anthropic's Message Batches API, from the provider's side.

Shapes as in the reference of platform.claude.com ("Message Batches").
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec
from aiohttp import web
from msgspec import Meta, Raw, Struct

from ...base import Json
from ..exchange import Simulation
from ..failure import Failure
from ..wire import anthropic
from ..wire.texts import decoded
from .desk import Desk, lines, page, replied
from .jobs import Item, Job, Result

_DAY: Final = 86_400.0


class _Request(Struct):
    custom_id: Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
    params: Raw


class _Create(Struct):
    requests: Annotated[list[_Request], Meta(min_length=1, max_length=100_000)]


_CREATE: Final = msgspec.json.Decoder(_Create)


class AnthropicDesk(Desk):
    """Message batches."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation, anthropic, lambda path: anthropic)
        self.routes = {
            r"POST .*/messages/batches$": self._create,
            r"GET .*/messages/batches$": self._list,
            r"GET .*/messages/batches/([^/]+)$": self._retrieve,
            r"GET .*/messages/batches/([^/]+)/results$": self._results,
            r"POST .*/messages/batches/([^/]+)/cancel$": self._cancel,
        }

    async def _create(self, request: web.BaseRequest, _: str) -> web.StreamResponse:
        asked = decoded(_CREATE, await request.read()).requests
        if len({each.custom_id for each in asked}) < len(asked):
            raise Failure("bad_request", "requests: every `custom_id` must be unique in its batch.")
        items = [Item(each.custom_id, anthropic.PATH, bytes(each.params)) for each in asked]
        job = self._jobs.add(items, {}, self.credentials(request))
        return self.made(request, job, _shown(job, request))

    async def _list(self, request: web.BaseRequest, _: str) -> web.StreamResponse:
        jobs, more = page(list(self._jobs.all.values()), _id, request, "after_id")
        shown: list[Json] = [_shown(job, request) for job in jobs]
        first, last = (_id(jobs[0]), _id(jobs[-1])) if jobs else (None, None)
        return replied({"data": shown, "has_more": more, "first_id": first, "last_id": last})

    async def _retrieve(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        return replied(_shown(self._job(name), request))

    async def _results(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        job = self._job(name)
        if job.ended is None:
            raise Failure("bad_request", "The results are there when the batch has ended.")
        return lines([_line(result) for result in job.results])

    async def _cancel(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        job = self._job(name)
        self._jobs.cancel(job)
        return replied(_shown(job, request))

    def _job(self, name: str) -> Job:
        return self._jobs.find(name.removeprefix("msgbatch_"))


def _id(job: Job) -> str:
    return f"msgbatch_{job.name}"


def _shown(job: Job, request: web.BaseRequest) -> Json:
    """Return a message batch. Its counts change only when it has ended."""
    ended = job.ended is not None
    counts: dict[str, Json] = {
        end: job.count(end) if ended else 0 for end in ("succeeded", "errored", "canceled", "expired")
    }
    root = str(request.url.with_query(None)).partition("/messages/batches")[0]
    return {
        "id": _id(job),
        "type": "message_batch",
        "processing_status": "ended" if ended else "canceling" if job.canceled else "in_progress",
        "request_counts": {"processing": 0 if ended else len(job.items), **counts},
        "created_at": _moment(job.created),
        "expires_at": _moment(job.created + _DAY),
        "ended_at": _moment(job.ended),
        "cancel_initiated_at": _moment(job.canceled),
        "archived_at": None,
        "results_url": f"{root}/messages/batches/{_id(job)}/results" if ended else None,
    }


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _line(result: Result) -> bytes:
    """Return a line of the results."""
    came: dict[str, object] = {"type": result.end}
    if result.end == "succeeded":
        came["message"] = Raw(result.body)
    elif result.end == "errored":
        came["error"] = Raw(result.body)
    return msgspec.json.encode({"custom_id": result.item.id, "result": came})

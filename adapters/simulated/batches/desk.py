"""What takes requests about batches: the part that is the same in the words of every provider."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import msgspec
from aiohttp import web

from ...base import SIMULATED, Json
from ..delivery import reset
from ..exchange import Simulation
from ..failure import Failure
from ..wire import Wire
from .jobs import Job, Jobs

Answering: TypeAlias = Callable[[web.BaseRequest, str], Awaitable[web.StreamResponse]]

T = TypeVar("T")

_PAGE: Final = 20


class Desk:
    """One provider's batch API: `routes` are patterns of `METHOD path`, whose one group, if any, is a name."""

    def __init__(self, simulation: Simulation, wire: Wire, wire_of: Callable[[str], Wire]) -> None:
        self._simulation = simulation
        self._wire = wire
        self._jobs = Jobs(simulation, wire_of)
        self.routes: Mapping[str, Answering] = {}

    def claims(self, method: str, path: str) -> bool:
        """Return whether a request is for this desk."""
        return any(re.search(pattern, f"{method} {path}") for pattern in self.routes)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request; nothing that it holds can raise."""
        for pattern, answering in self.routes.items():
            if found := re.search(pattern, f"{request.method} {request.path}"):
                try:
                    self._check_key(request)
                    response = await answering(request, found[found.re.groups])
                except Failure as failure:
                    status, body = self._wire.status(failure), self._wire.error(failure)
                    response = web.Response(status=status, body=body, content_type="application/json")
                response.headers[SIMULATED] = "true"
                return response
        raise AssertionError("only what is claimed is answered")

    def close(self) -> None:
        """Stop all work on batches."""
        self._jobs.close()

    def credentials(self, request: web.BaseRequest) -> dict[str, str]:
        """Return the headers that carry the key."""
        names = ("authorization", "x-api-key")
        return {name: request.headers[name] for name in names if name in request.headers}

    def made(self, request: web.BaseRequest, job: Job, body: Json) -> web.StreamResponse:
        """Return the reply to the request that made `job`, or lose it."""
        return reset(request) if self._jobs.loses_reply(job) else replied(body)

    def _check_key(self, request: web.BaseRequest) -> None:
        expected = self._simulation.config.key
        if expected is not None and self._wire.key(request.headers) != expected:
            raise Failure("key", "Incorrect API key provided.")


def replied(body: Json) -> web.Response:
    """Return a JSON reply."""
    return web.Response(body=msgspec.json.encode(body), content_type="application/json")


def lines(entries: Sequence[bytes]) -> web.Response:
    """Return a file of JSON lines."""
    return web.Response(body=b"".join(entry + b"\n" for entry in entries), content_type="application/x-jsonl")


def page(entries: Sequence[T], name: Callable[[T], str], request: web.BaseRequest, after: str) -> tuple[list[T], bool]:
    """Return the page that a request asks for, newest first, and whether there are more; `after` names its cursor."""
    newest = list(reversed(entries))
    cursor = request.query.get(after)
    start = next((place for place, each in enumerate(newest, 1) if name(each) == cursor), 0) if cursor else 0
    limit = int(request.query.get("limit", _PAGE))
    return newest[start : start + limit], len(newest) > start + limit

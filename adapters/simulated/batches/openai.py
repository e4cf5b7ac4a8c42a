"""OpenAI's Batch and Files APIs, from the provider's side.

Shapes as in OpenAI's API reference ("Batch", "Files"). Only files for batches are taken.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec
from aiohttp import web
from msgspec import Meta, Raw, Struct

from ...base import Json
from ..exchange import Simulation
from ..failure import Failure
from ..wire import Wire, openai_chat, openai_responses
from ..wire.texts import decoded
from .desk import Desk, lines, page, replied
from .jobs import Item, Job, Result

MOST_ITEMS: Final = 50_000
_DAY: Final = 86_400

_ENDPOINTS: Final[dict[str, Wire]] = {"/v1/chat/completions": openai_chat, "/v1/responses": openai_responses}


class _Create(Struct):
    input_file_id: str
    endpoint: Literal["/v1/chat/completions", "/v1/responses"]
    completion_window: Literal["24h"]
    metadata: Annotated[dict[str, str], Meta(max_length=16)] | None = None


class _Line(Struct):
    custom_id: str
    method: Literal["POST"]
    url: str
    body: Raw


class _Body(Struct):
    model: str


_CREATE: Final = msgspec.json.Decoder(_Create)
_LINE: Final = msgspec.json.Decoder(_Line)
_BODY: Final = msgspec.json.Decoder(_Body)


@dataclass(frozen=True, slots=True)
class _File:
    id: str
    filename: str
    content: bytes
    created: float

    def shown(self) -> Json:
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": int(self.created),
            "filename": self.filename,
            "purpose": "batch",
            "status": "processed",
        }


class OpenAIDesk(Desk):
    """Files and batches of OpenAI."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation, openai_chat, _ENDPOINTS.__getitem__)
        self._files: dict[str, _File] = {}
        self.routes = {
            r"POST .*/files$": self._upload,
            r"GET .*/files/([^/]+)$": self._file,
            r"GET .*/files/([^/]+)/content$": self._content,
            r"POST .*/batches$": self._create,
            r"GET .*/batches$": self._list,
            r"GET .*/batches/([^/]+)$": self._retrieve,
            r"POST .*/batches/([^/]+)/cancel$": self._cancel,
        }

    async def _upload(self, request: web.BaseRequest, _: str) -> web.StreamResponse:
        try:
            form = await request.post()
        except (ValueError, AssertionError) as error:
            raise Failure("bad_request", f"The form cannot be read: {error}") from None
        file = form.get("file")
        if form.get("purpose") != "batch" or not isinstance(file, web.FileField):
            raise Failure("bad_request", "A file for batches has the purpose 'batch' and a content.")
        name = f"file-{len(self._files):08}"
        self._files[name] = _File(name, file.filename, file.file.read(), time.time())
        return replied(self._files[name].shown())

    async def _file(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        return replied(self._held(name).shown())

    async def _content(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        kind, _, job = name.partition("-")
        if kind not in ("output", "error"):
            return web.Response(body=self._held(name).content, content_type="application/jsonl")
        results = self._jobs.find(job).results
        return lines([_line(result) for result in results if (result.end == "succeeded") == (kind == "output")])

    async def _create(self, request: web.BaseRequest, _: str) -> web.StreamResponse:
        asked = decoded(_CREATE, await request.read())
        items, errors = self._items(asked)
        told: dict[str, Json] = {
            "endpoint": asked.endpoint,
            "input_file_id": asked.input_file_id,
            "completion_window": asked.completion_window,
            "metadata": dict[str, Json](asked.metadata or {}),
            "errors": {"object": "list", "data": errors} if errors else None,
        }
        job = self._jobs.add([] if errors else items, told, self.credentials(request))
        return self.made(request, job, _shown(job))

    async def _list(self, request: web.BaseRequest, _: str) -> web.StreamResponse:
        jobs, more = page(list(self._jobs.all.values()), _id, request, "after")
        shown: list[Json] = [_shown(job) for job in jobs]
        ends: dict[str, Json] = {"first_id": _id(jobs[0]), "last_id": _id(jobs[-1])} if jobs else {}
        return replied({"object": "list", "data": shown, "has_more": more, **ends})

    async def _retrieve(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        return replied(_shown(self._job(name)))

    async def _cancel(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        job = self._job(name)
        self._jobs.cancel(job)
        return replied(_shown(job))

    def _job(self, name: str) -> Job:
        return self._jobs.find(name.removeprefix("batch_"))

    def _held(self, name: str) -> _File:
        if name not in self._files:
            raise Failure("not_found", f"No file is called {name!r}.")
        return self._files[name]

    def _items(self, asked: _Create) -> tuple[list[Item], list[Json]]:
        """Return the requests of the input file, and what is wrong with it, line by line."""
        items: dict[str, Item] = {}
        errors: list[Json] = []
        models: set[str] = set()
        for number, raw in enumerate(self._held(asked.input_file_id).content.splitlines(), 1):
            try:
                line = _LINE.decode(raw)
                models.add(_BODY.decode(line.body).model)
            except (msgspec.DecodeError, RecursionError) as error:
                errors.append(_error(number, "invalid_json_line", str(error)))
                continue
            if line.custom_id in items:
                errors.append(_error(number, "duplicate_custom_id", f"{line.custom_id!r} stands twice."))
            if line.url != asked.endpoint:
                errors.append(_error(number, "mismatched_endpoint", f"{line.url!r} is not {asked.endpoint!r}."))
            items[line.custom_id] = Item(line.custom_id, line.url, bytes(line.body))
        if len(models) > 1:
            errors.append(_error(None, "mismatched_model", "All requests of a batch name one model."))
        if not 0 < len(items) <= MOST_ITEMS:
            errors.append(_error(None, "invalid_file", f"A batch has from 1 to {MOST_ITEMS} requests."))
        return list(items.values()), errors


def _error(line: int | None, code: str, message: str) -> Json:
    return {"code": code, "line": line, "message": message, "param": None}


def _id(job: Job) -> str:
    return f"batch_{job.name}"


def _status(job: Job) -> str:
    if job.told["errors"]:
        return "failed"
    if job.ended is None:
        return "in_progress" if job.canceled is None else "cancelling"
    if job.canceled is not None:
        return "cancelled"
    return "expired" if job.count("expired") else "completed"


def _shown(job: Job) -> Json:
    """Return a batch object; a moment stands under the name of the state that began with it."""
    status, succeeded = _status(job), job.count("succeeded")
    failed = len(job.results) - succeeded
    moments: dict[str, Json] = {f"{status}_at": int(job.ended or job.canceled or job.created)}
    return {
        "id": _id(job),
        "object": "batch",
        "status": status,
        "created_at": int(job.created),
        "expires_at": int(job.created) + _DAY,
        "request_counts": {"total": len(job.items), "completed": succeeded, "failed": failed},
        "output_file_id": f"output-{job.name}" if job.ended and succeeded else None,
        "error_file_id": f"error-{job.name}" if job.ended and failed else None,
        **job.told,
        **moments,
    }


def _line(result: Result) -> bytes:
    """Return a line of the output file, or of the error file."""
    response, error = Raw(b"null"), None
    if result.body:
        response = msgspec.json.encode(
            {"status_code": result.status, "request_id": f"req_{result.item.id}", "body": Raw(result.body)}
        )
    else:
        code = "batch_expired" if result.end == "expired" else "batch_cancelled"
        error = {"code": code, "message": "The request was not executed before the batch ended."}
    fields = {
        "id": f"batch_req_{result.item.id}",
        "custom_id": result.item.id,
        "response": Raw(response),
        "error": error,
    }
    return msgspec.json.encode(fields)

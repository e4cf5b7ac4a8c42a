"""The audit's page over HTTP: a shell without a sample in it, and what an annotator with a token sees and says.

    GET /                                the page; GET /NAME its styles and scripts
    GET /api/audit                       who it is, how far they are, and where they were
    GET /api/tasks/N                     the Nth task in the annotator's own order, with their answers
    PUT /api/tasks/N/answers/ITEM        one answer
    PUT /api/tasks/N/comment, /api/place a comment; where they are

The token comes in a header that a page must set, which no other site can make a browser do, and is kept per tab: there
is no cookie, which every server on this machine would be sent, whatever its port.
"""

from __future__ import annotations

import asyncio
import hmac
import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Final, TypeVar

import msgspec
from aiohttp import web

from ....adapters.listening import listening, origin
from ... import html
from ..accuracy import SET_NAMES
from .guard import Handler, guard, name_of
from .store import Store
from .tasks import Task, in_order

R = TypeVar("R")

_TASK: Final = "/api/tasks/{place:[0-9]{1,9}}"
_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_LARGEST_BODY: Final = 64 * 1024
_SHUTDOWN: Final = 1.0
"""Seconds that an answer on its way gets when the server stops."""
_LONGEST_COMMENT: Final = 10_000


@asynccontextmanager
async def serve(store: Store, host: str, port: int) -> AsyncGenerator[str]:
    """Serve the audit in this event loop and yield its origin, `http://HOST:PORT`.

    Raises ConfigurationError when the address cannot be bound.
    """
    name = name_of(host)
    with ThreadPoolExecutor(1, "audit") as writer:
        application = _application(Desk(store, writer), {"localhost", name.lower()})
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=_SHUTDOWN)
        async with listening(runner, host, port) as (_, bound):
            yield origin(name, bound)


class Desk:
    """Answers the page. The file is touched by one thread alone, off the loop."""

    def __init__(self, store: Store, writer: ThreadPoolExecutor) -> None:
        self._store = store
        self._writer = writer
        self._tokens = {each.name: each.token.encode() for each in store.annotators()}
        self._tasks = {name: in_order(store.tasks, name, store.plan.seed) for name in self._tokens}

    async def audit(self, request: web.Request) -> web.Response:
        """Say who asks, which tasks are done, and where they were."""
        name = self._annotator(request)
        answers = await self._call(self._store.answers, name)
        tasks = self._tasks[name]
        return _json(
            {
                "annotator": name,
                "subject": self._store.plan.subject,
                "calibration": sum(task.calibration for task in tasks),
                "done": [task.is_done(answers.get(task.id, {})) for task in tasks],
                "place": await self._call(self._store.place, name),
            }
        )

    async def task(self, request: web.Request) -> web.Response:
        """Return one task as its annotator sees it."""
        name, task = self._named(request)
        answers, comments = await self._call(self._store.answers, name), await self._call(self._store.comments, name)
        return _json(
            {
                "set": SET_NAMES[task.kind],
                "database": task.database,
                "calibration": task.calibration,
                "parts": task.parts,
                "items": task.items,
                "answers": answers.get(task.id, {}),
                "comment": comments.get(task.id, ""),
            }
        )

    async def answer(self, request: web.Request) -> web.Response:
        """Take one answer; it is on disk when this answers."""
        name, task = self._named(request)
        value = await _body(request, str)
        item = next((item for item in task.items if item.key == request.match_info["item"]), None)
        if item is None or value not in (choice.value for choice in item.choices):
            raise web.HTTPBadRequest(text="There is no such item, or no such answer to it.")
        await self._call(self._store.answer, name, task.id, item.key, value)
        return _json({})

    async def comment(self, request: web.Request) -> web.Response:
        """Take a comment."""
        name, task = self._named(request)
        text = await _body(request, str)
        if len(text) > _LONGEST_COMMENT:
            raise web.HTTPBadRequest(text=f"A comment has at most {_LONGEST_COMMENT:,} characters.")
        await self._call(self._store.comment, name, task.id, text.strip())
        return _json({})

    async def place(self, request: web.Request) -> web.Response:
        """Take where the annotator is."""
        name = self._annotator(request)
        place = await _body(request, int)
        if not 0 <= place < len(self._tasks[name]):
            raise web.HTTPBadRequest(text="There is no such task.")
        await self._call(self._store.move, name, place)
        return _json({})

    def _annotator(self, request: web.Request) -> str:
        """Return whose token a request carries; every token is compared, in time that says nothing of it."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").encode("utf-8", "surrogateescape")
        found = [name for name, token in self._tokens.items() if hmac.compare_digest(token, given)]
        if not found:
            raise web.HTTPUnauthorized(text="Open the address that was printed for you: it holds your token.")
        return found[0]

    def _named(self, request: web.Request) -> tuple[str, Task]:
        name = self._annotator(request)
        place = int(request.match_info["place"])
        if place >= len(self._tasks[name]):
            raise web.HTTPNotFound(text="There is no such task.")
        return name, self._tasks[name][place]

    async def _call(self, function: Callable[..., R], *args: object) -> R:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._writer, function, *args)
        except sqlite3.Error as error:
            raise web.HTTPServiceUnavailable(text=f"the audit's file: {error}") from None


def _application(desk: Desk, names: Collection[str]) -> web.Application:
    application = web.Application(middlewares=[guard(names)], client_max_size=_LARGEST_BODY)
    application.router.add_get("/api/audit", desk.audit)
    application.router.add_get(_TASK, desk.task)
    application.router.add_put(f"{_TASK}/answers/{{item}}", desk.answer)
    application.router.add_put(f"{_TASK}/comment", desk.comment)
    application.router.add_put("/api/place", desk.place)
    ours = __name__.rpartition(".")[0]
    for path, package, name in (
        ("/", ours, "audit.html"),
        ("/audit.css", ours, "audit.css"),
        ("/audit.js", ours, "audit.js"),
        ("/page.css", html.__name__, "page.css"),
        ("/common.js", html.__name__, "common.js"),
    ):
        application.router.add_get(path, _file(package, name))
    return application


def _file(package: str, name: str) -> Handler:
    body = files(package).joinpath("assets", name).read_bytes()

    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=_TYPES[name.rpartition(".")[2]], charset="utf-8")

    return handler


async def _body(request: web.Request, kind: type[R]) -> R:
    try:
        return msgspec.json.decode(await request.read(), type=kind)
    except msgspec.DecodeError as error:
        raise web.HTTPBadRequest(text=str(error)) from None


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")

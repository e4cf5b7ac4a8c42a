"""ChromaDB collections behind one small async interface, whether a server holds them or this process."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from ....adapters.base import ConfigurationError
from ....adapters.redaction import public_url
from ....engine.errors import Unfinished
from ...embeddings.base import Vector

IN_FLIGHT = 8
"""Requests at a time: Chroma's client serves 149 queries a second so, and 8 when hundreds are let loose on it."""
DEADLINE = 60.0
"""Seconds for one request."""
HNSW = {"space": "cosine", "ef_construction": 400, "ef_search": 1000, "max_neighbors": 32}
"""An approximate index, set so wide that over a few thousand texts it finds what is there."""

Untyped: TypeAlias = Any
"""A value of Chroma's, whose own annotations are of no help."""


class ChromaStore:
    """A client for one run. Open with `ChromaStore.open`, then one collection per condition-run."""

    def __init__(self, where: str, client: Untyped, executor: ThreadPoolExecutor | None) -> None:
        self._where = public_url(where)
        self._client = client
        self._executor = executor
        self._permits = asyncio.Semaphore(IN_FLIGHT)
        self._opened: list[str] = []

    @classmethod
    async def open(cls, where: str) -> ChromaStore:
        """Connect: `where` is `http(s)://host:port`, `memory`, or a folder. Raises ConfigurationError."""
        try:
            chromadb: Untyped = import_module("chromadb")
        except ImportError:
            raise ConfigurationError("ChromaDB is not installed. Run `pip install 'turntide[chroma]'`.") from None
        settings = chromadb.Settings(anonymized_telemetry=False, allow_reset=False)
        if where == "memory":
            return cls(where, chromadb.EphemeralClient(settings), _executor())
        if not where.startswith(("http://", "https://")):
            return cls(where, chromadb.PersistentClient(Path(where), settings), _executor())
        url = urlsplit(where)
        settings.chroma_server_ssl_verify = True
        connect = chromadb.AsyncHttpClient(
            url.hostname or "localhost", url.port or 8000, ssl=url.scheme == "https", settings=settings
        )
        try:
            async with asyncio.timeout(DEADLINE):
                return cls(where, await connect, None)
        except Exception as error:
            raise ConfigurationError(f"no ChromaDB answers at {public_url(where)}: {error}") from None

    async def collection(self, namespace: str) -> ChromaCollection:
        """Create the collection of one condition-run, empty; the namespace stands in its metadata."""
        name = f"turntide-{hashlib.sha256(namespace.encode()).hexdigest()[:32]}"
        options = {"configuration": {"hnsw": HNSW}, "metadata": {"namespace": namespace}, "embedding_function": None}
        collection = await self.call(partial(self._client.create_collection, name, **options))
        self._opened.append(name)
        return ChromaCollection(self, collection)

    async def call(self, request: Callable[[], Untyped]) -> Untyped:
        """Run one request of Chroma's client; whatever goes wrong with it stops the dialogue."""
        try:
            async with self._permits, asyncio.timeout(DEADLINE):
                if self._executor is None:
                    return await request()
                return await asyncio.get_running_loop().run_in_executor(self._executor, request)
        except Exception as error:
            message = f"ChromaDB at {self._where}: {type(error).__name__}: {error}"
            raise Unfinished("infrastructure", message) from error

    async def aclose(self) -> None:
        """Delete what this run put there: memory is rebuilt from the run's records, never from a server.

        What a server that has gone still holds is left to it: no later run reads collections of that name.
        """
        try:
            for name in self._opened:
                await self.call(partial(self._client.delete_collection, name))
        except Unfinished:
            pass
        finally:
            self._opened.clear()
            if self._executor is not None:
                self._executor.shutdown()
            else:
                await self._client._server._cleanup()  # no public way to close its connections


class ChromaCollection:
    """Numbered texts with their vectors."""

    def __init__(self, store: ChromaStore, collection: Untyped) -> None:
        self._store = store
        self._collection = collection

    async def upsert(self, numbers: Sequence[int], vectors: Vector, texts: Sequence[str]) -> None:
        """Keep texts under their numbers; `vectors` is (n, 384)."""
        ids = [str(number) for number in numbers]
        kept = {"ids": ids, "embeddings": vectors, "documents": list(texts)}
        await self._store.call(partial(self._collection.upsert, **kept))

    async def query(self, vectors: Vector, count: int) -> list[list[int]]:
        """Return the numbers of the `count` nearest texts for each of `vectors` (n, 384), as Chroma ranks them."""
        asked: dict[str, Any] = {"query_embeddings": vectors, "n_results": count, "include": []}
        answer = await self._store.call(partial(self._collection.query, **asked))
        return [[int(found) for found in ids] for ids in answer["ids"]]


def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="chroma")

"""all-MiniLM-L6-v2 (Reimers and Gurevych 2019) through onnxruntime, in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import orjson

from ...adapters.base import ConfigurationError, Json
from ...engine.errors import Unfinished
from ...engine.system.cache import cache_folder
from .base import DIMENSIONS, Vector, storable
from .location import NAME, ModelFiles, find_model

BATCH = 128
"""Texts per request: under a second of work, so that a parent that dies is noticed soon."""
DEADLINE = 120.0
"""Seconds for one request, loading the model included; a hundred times what it takes."""


class MiniLM:
    """The embedder of the paper (§5.6). Known texts are answered at once; the worker starts at the first unknown one.

    Texts that are asked for while a request is on its way go together in the next one. Every distinct text is kept
    (1.5 KB each; a benchmark has a few hundred).
    """

    name = "minilm"

    def __init__(self, files: ModelFiles, cache: Path | None) -> None:
        self._files = files
        self._worker = _Worker(files.folder, cache)
        self._known: dict[str, Vector] = {}
        self._wanted: dict[str, None] = {}
        self._flush: asyncio.Task[None] | None = None

    @classmethod
    def open(cls, environ: Mapping[str, str], folder: Path | None = None) -> MiniLM:
        """Find the model and its libraries, or raise ConfigurationError that says how to get them."""
        require_libraries()
        files = find_model(environ, folder)
        return cls(files, cache_folder(environ) / "embeddings" / f"{files.key}.sqlite")

    def identity(self) -> dict[str, Json]:
        """Return the model's name and the sha256 of both files."""
        return {
            "name": NAME,
            "model_sha256": self._files.model_sha256,
            "tokenizer_sha256": self._files.tokenizer_sha256,
        }

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Return (n, 384) float32 unit vectors.

        Stops the dialogue (Unfinished, infrastructure) when the worker fails twice, or says why it cannot.
        """
        texts = [storable(text) for text in texts]
        while missing := [text for text in texts if text not in self._known]:
            self._wanted.update(dict.fromkeys(missing))
            if self._flush is None or self._flush.done():
                self._flush = asyncio.create_task(self._fetch())
            await asyncio.shield(self._flush)  # others wait for it too: one caller's cancellation is not theirs
        return np.stack([self._known[text] for text in texts]) if texts else np.empty((0, DIMENSIONS), np.float32)

    async def aclose(self) -> None:
        """End the worker. A later question starts another."""
        if self._flush is not None:
            await asyncio.wait([self._flush])
        await self._worker.aclose()

    async def _fetch(self) -> None:
        batch = list(self._wanted)[:BATCH]
        for text in batch:
            del self._wanted[text]
        self._known.update(zip(batch, await self._worker.ask(batch), strict=True))


def require_libraries() -> None:
    """Raise ConfigurationError when what runs the model is not installed."""
    for library in ("onnxruntime", "tokenizers"):
        if find_spec(library) is None:
            raise ConfigurationError(f"{NAME} needs {library}. Run `pip install 'turntide[embeddings]'`.")


class _Worker:
    """The process and its two pipes. One request at a time."""

    def __init__(self, folder: Path, cache: Path | None) -> None:
        self._arguments = [str(folder), *([str(cache)] if cache else [])]
        self._process: Process | None = None

    async def ask(self, texts: Sequence[str]) -> Vector:
        """Return the vectors; a worker that dies or hangs is replaced once."""
        try:
            return await self._attempt(texts)
        except (OSError, EOFError, TimeoutError):
            await self._kill()
        try:
            return await self._attempt(texts)
        except (OSError, EOFError, TimeoutError) as error:
            await self._kill()
            raise Unfinished(
                "infrastructure", f"the embedding worker failed twice: {type(error).__name__} {error}"
            ) from error

    async def aclose(self) -> None:
        """Close its input, which ends it; kill it when it does not end."""
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 5)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _attempt(self, texts: Sequence[str]) -> Vector:
        if self._process is None:
            self._process = await self._start()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        body = orjson.dumps(list(texts))
        async with asyncio.timeout(DEADLINE):
            stdin.write(len(body).to_bytes(4, "little") + body)
            await stdin.drain()
            head = await stdout.readexactly(5)
            reply = await stdout.readexactly(int.from_bytes(head[:4], "little"))
        if head[4]:
            raise Unfinished("infrastructure", f"{NAME} cannot be run: {reply.decode()}")
        return np.frombuffer(reply, "<f4").astype(np.float32).reshape(len(texts), DIMENSIONS)

    async def _start(self) -> Process:
        # One thread each: the model is small, and the processors belong to the dialogues.
        quiet = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        command = (sys.executable, "-P", "-m", f"{__package__}.worker", *self._arguments)
        # A session of its own: Ctrl-C is for the run, which wants to finish what it has begun.
        return await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, env={**os.environ, **quiet}, start_new_session=True
        )

    async def _kill(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            if process.returncode is None:
                process.kill()
            await process.wait()

"""The simulated provider of a run that names one of its models: a server of the run's own, beside it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from ...adapters.simulated import SimulatedServer

PREFIX: Final = "sim/"
URL: Final = "TURNTIDE_SIM_BASE_URL"


class OwnSimulated:
    """Starts at most one server, in the background: it comes up while the benchmark is opened. Use it as a context."""

    def __init__(self) -> None:
        self._server: asyncio.Future[SimulatedServer] | None = None

    def serve(self, models: Iterable[str]) -> None:
        """Begin to start a server if one of `models` is simulated, and the user has named none."""
        if self._server or os.environ.get(URL) or not any(model.startswith(PREFIX) for model in models):
            return
        from ...adapters.simulated import SimulatedServer

        self._server = asyncio.ensure_future(asyncio.to_thread(SimulatedServer.start))

    async def environ(self) -> Mapping[str, str]:
        """Return the environment of a run of the models named so far. Raises ConfigurationError."""
        return {**os.environ, URL: (await self._server).base_url} if self._server else os.environ

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server and not (await asyncio.wait([self._server]))[0].pop().exception():
            await asyncio.to_thread(self._server.result().stop)

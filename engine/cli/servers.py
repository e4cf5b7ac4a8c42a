"""The servers of a run's own: of the simulated provider, and of a model that runs on this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from .local import local_server

if TYPE_CHECKING:
    from ...adapters.simulated import SimulatedServer

PREFIX: Final = "sim/"
URL: Final = "TURNTIDE_SIM_BASE_URL"


class OwnServers:
    """Servers for models that need one, where the user has named none; they end with the context."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._simulated: asyncio.Future[SimulatedServer] | None = None

    def begin(self, models: Iterable[str]) -> None:
        """Begin to start the simulated provider if one of `models` needs it: it comes up while others work."""
        if self._simulated or os.environ.get(URL) or not any(model.startswith(PREFIX) for model in models):
            return
        from ...adapters.simulated import SimulatedServer

        self._simulated = asyncio.ensure_future(asyncio.to_thread(SimulatedServer.start))

    async def environ(self, models: Iterable[str]) -> Mapping[str, str]:
        """Return the environment of a run of `models`, whose servers listen. Raises ConfigurationError."""
        models = list(models)
        self.begin(models)
        simulated = {URL: (await self._simulated).base_url} if self._simulated else {}
        return await self._stack.enter_async_context(local_server(models, {**os.environ, **simulated}))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()
        if self._simulated and not (await asyncio.wait([self._simulated]))[0].pop().exception():
            await asyncio.to_thread(self._simulated.result().stop)

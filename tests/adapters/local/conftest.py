"""llama.cpp's server with the real model, one for all tests of a process; where it is not, they skip and say why."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterator
from typing import Protocol

import pytest
from turntide.adapters.base import Answer, ConfigurationError, Json, Message, Question, Reply
from turntide.adapters.local import MODELS, LocalServer
from turntide.adapters.providers import local
from turntide.adapters.transport import HttpxTransport
from turntide.engine.cli.local import find_weights

from ...conftest import missing

MODEL = MODELS["smollm2"]


class Ask(Protocol):
    async def __call__(self, api: str, *said: str, key: str | None = None, **options: Json) -> Reply: ...


@pytest.fixture(scope="session")
def server() -> Iterator[LocalServer]:
    try:
        with LocalServer.start(MODEL, find_weights(MODEL, os.environ), threads=1) as server:
            yield server
    except ConfigurationError as error:
        missing("SmolLM2 and llama.cpp", str(error))


@pytest.fixture
async def ask(server: LocalServer) -> AsyncGenerator[Ask]:
    """Ask the real model through an adapter: what is said alternates between user and assistant."""
    transport = HttpxTransport()

    async def ask(api: str, *said: str, key: str | None = None, **options: Json) -> Reply:
        wire = local.speaking(api).wire
        chat = [Message("assistant" if n % 2 else "user", text) for n, text in enumerate(said)]
        question = Question(
            model="smollm2",
            messages=(Message("system", "Be brief."), *chat),
            options={"max_tokens": 8, "temperature": 0, **options},
        )
        account = local.account({**server.environ(), **({"TURNTIDE_LOCAL_API_KEY": key} if key else {})})
        reply = await transport.send(account, wire.build(question), wire.authorize(account.key), 60.0)
        return wire.read(reply, question)

    yield ask
    await transport.aclose()


def answer(reply: Reply) -> Answer:
    """The reply, which must be an answer."""
    assert isinstance(reply, Answer), reply
    return reply

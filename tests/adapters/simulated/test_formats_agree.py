"""One simulated model through every format, over our own transport and adapters: the format must not show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from turntide.adapters.base import Answer, Fatal, Fault, Message, Question, Reply, Secret
from turntide.adapters.simulated.entry import provider
from turntide.adapters.transport import HttpxTransport

if TYPE_CHECKING:
    from .conftest import Start

BEHAVIOURS = "wrong preamble fence syntax empty cut refuse filter substitute unmetered".split()
TEXTS = ("SELECT 1", "𝕏 \x00 how many?", "SELECT v FROM n WHERE v < 70 AND v > 3 OR v IN (1, 2) ORDER BY v" * 3)
FORMATS = sorted(provider.formats)


async def ask(base_url: str, api: str, model: str, text: str, key: str = "") -> Reply:
    """Ask in one format, over our own transport, and return what our own adapter reads."""
    spoken = provider.speaking(api)
    account = spoken.account({"TURNTIDE_SIM_BASE_URL": base_url})
    messages = (
        Message("system", "Write SQL."),
        Message("user", "hi"),
        Message("assistant", "1"),
        Message("user", text),
    )
    question = Question(model=model, messages=messages, options={"max_tokens": 30})
    transport = HttpxTransport()
    try:
        headers = spoken.wire.authorize(Secret(key))
        reply = await transport.send(account, spoken.wire.build(question), headers, 5.0)
        return spoken.wire.read(reply, question)
    finally:
        await transport.aclose()


@pytest.mark.parametrize("behaviour", ["", *BEHAVIOURS])
async def test_a_model_answers_the_same_through_all_formats(start: Start, behaviour: str) -> None:
    sim = await start(reasoning_tokens=3, cached_share=0.5)
    model = f"echo?{behaviour}=1" if behaviour else "echo"
    for text in TEXTS:
        answers = [answer_of(await ask(sim.base_url, api, model, text)) for api in FORMATS]
        assert len({(answer.text, answer.finish, answer.model, answer.usage) for answer in answers}) == 1
        assert len({answer.detail.partition(":")[0] for answer in answers}) == 1


def answer_of(read: Reply) -> Answer:
    assert isinstance(read, Answer)
    return read


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"key": "right"}, "key"),
        ({"limits": {"quota": 0}}, "quota"),
        ({"limits": {"concurrent": 1}, "faults": {"429": 1}, "retry_after": 7}, "rate_limit"),
        ({"faults": {"529": 1}}, "overloaded"),
        ({"faults": {"500": 1}}, "server"),
        ({"faults": {"502": 1}}, "server"),
        ({"faults": {"malformed": 1}}, "malformed"),
    ],
)
@pytest.mark.parametrize("api", FORMATS)
async def test_a_failure_is_read_as_what_it_was(start: Start, config: dict[str, Any], kind: str, api: str) -> None:
    sim = await start(**config)
    read = await ask(sim.base_url, api, "echo", "x", "wrong")
    assert isinstance(read, Fault | Fatal)
    assert read.kind == kind
    if kind == "rate_limit":
        assert isinstance(read, Fault)
        assert read.retry_after == 7.0


@pytest.mark.parametrize("api", FORMATS)
async def test_a_prompt_that_is_too_long_is_refused(start: Start, api: str) -> None:
    sim = await start(context_tokens=20)
    read = await ask(sim.base_url, api, "echo", "x" * 1000)
    assert isinstance(read, Answer)
    assert (read.finish, read.detail.partition(":")[0]) == ("refused", "context_length")

"""The providers' own clients use the simulated batch APIs without a complaint."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ...conftest import missing

if TYPE_CHECKING:
    from .conftest import Start


@pytest.fixture
def clients() -> Iterator[Any]:
    """Import a client by name, or skip; their own deprecations are not ours."""

    def imported(name: str) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return __import__(name, fromlist=["*"])
        except ImportError:
            return missing(name, "the official client is not installed")

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        yield imported


def complete(reply: Any) -> None:
    """Check that nothing which the client's own type asks for is missing; by itself it does not look."""
    reply.__class__.model_validate(reply.model_dump())


async def until(look: Callable[[], Awaitable[Any]], state: Callable[[Any], str], *ends: str) -> Any:
    """Look until the batch is in one of the states."""
    async with asyncio.timeout(10):
        while state(batch := await look()) not in ends:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    complete(batch)
    return batch


def input_file(*contents: str, model: str = "echo", url: str = "/v1/chat/completions") -> bytes:
    lines = [
        {
            "custom_id": f"q{number}",
            "method": "POST",
            "url": url,
            "body": {"model": model, "messages": [{"role": "user", "content": content}]},
        }
        for number, content in enumerate(contents)
    ]
    return "\n".join(map(json.dumps, lines)).encode()


async def test_openai_makes_a_batch_and_reads_its_files(start: Start, clients: Any) -> None:
    openai = clients("openai")
    sim = await start(models={"m": {"reader": "echo", "context_tokens": 20}})
    async with openai.AsyncOpenAI(api_key="k", base_url=sim.base_url, max_retries=0) as client:
        content = input_file("one", "two", "far too long " * 20, model="m")
        file = await client.files.create(file=("in.jsonl", content), purpose="batch")
        complete(file)
        assert (await client.files.content(file.id)).content == content
        made = await client.batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"run": "7"}
        )
        complete(made)
        batch = await until(lambda: client.batches.retrieve(made.id), lambda b: b.status, "completed")
        output = (await client.files.content(batch.output_file_id)).text.splitlines()
        errors = (await client.files.content(batch.error_file_id)).text.splitlines()
        listed = [entry.id async for entry in client.batches.list(limit=1)]
    said = {line["custom_id"]: line["response"]["body"]["choices"][0]["message"] for line in map(json.loads, output)}
    assert {name: message["content"] for name, message in said.items()} == {"q0": "one", "q1": "two"}
    assert [json.loads(line)["response"]["status_code"] for line in errors] == [400]
    assert (batch.request_counts.total, batch.request_counts.completed, batch.request_counts.failed) == (3, 2, 1)
    assert (batch.metadata, listed) == ({"run": "7"}, [batch.id])


async def test_openai_cancels_a_batch_and_keeps_what_was_answered(start: Start, clients: Any) -> None:
    openai = clients("openai")
    sim = await start(batches={"seconds": 1.0})
    async with openai.AsyncOpenAI(api_key="k", base_url=sim.base_url, max_retries=0) as client:
        contents = [str(number) for number in range(20)]
        file = await client.files.create(file=("in.jsonl", input_file(*contents)), purpose="batch")
        made = await client.batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
        )
        await until(
            lambda: client.batches.retrieve(made.id), lambda b: "begun" if b.request_counts.completed else "", "begun"
        )
        assert (await client.batches.cancel(made.id)).status == "cancelling"
        batch = await until(lambda: client.batches.retrieve(made.id), lambda b: b.status, "cancelled")
        errors = (await client.files.content(batch.error_file_id)).text.splitlines()
    assert 0 < batch.request_counts.completed < 20
    assert batch.request_counts.completed + len(errors) == 20
    assert {json.loads(line)["error"]["code"] for line in errors} == {"batch_cancelled"}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"no json", "invalid_json_line"),
        (input_file("one") + b"\n" + input_file("two"), "duplicate_custom_id"),
        (input_file("one", url="/v1/responses"), "mismatched_endpoint"),
        (b"", "invalid_file"),
    ],
)
async def test_openai_hears_what_is_wrong_with_a_file(start: Start, clients: Any, content: bytes, code: str) -> None:
    openai = clients("openai")
    sim = await start()
    async with openai.AsyncOpenAI(api_key="k", base_url=sim.base_url, max_retries=0) as client:
        file = await client.files.create(file=("in.jsonl", content), purpose="batch")
        made = await client.batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
        )
        with pytest.raises(openai.NotFoundError):
            await client.batches.retrieve("batch_none")
    assert made.status == "failed"
    assert made.errors.data[0].code == code


def request(name: str, content: str, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"custom_id": name, "params": {"model": "m", "max_tokens": 9, "messages": [message], **more}}


async def test_anthropic_makes_a_batch_and_reads_its_results(start: Start, clients: Any) -> None:
    anthropic = clients("anthropic")
    sim = await start(models={"m": {"reader": "echo"}})
    root = sim.base_url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(api_key="k", base_url=root, max_retries=0) as client:
        made = await client.messages.batches.create(
            requests=[request("a", "one"), request("b", "two"), request("c", "x", model="nobody")]
        )
        complete(made)
        batch = await until(lambda: client.messages.batches.retrieve(made.id), lambda b: b.processing_status, "ended")
        results = {each.custom_id: each.result async for each in await client.messages.batches.results(batch.id)}
        listed = [entry.id async for entry in client.messages.batches.list(limit=1)]
    assert results["a"].message.content[0].text == "one"
    assert results["b"].message.usage.output_tokens == 1
    assert results["c"].error.error.type == "not_found_error"
    assert (batch.request_counts.succeeded, batch.request_counts.errored) == (2, 1)
    assert listed == [batch.id]


async def test_anthropic_cancels_a_batch_and_keeps_what_was_answered(start: Start, clients: Any) -> None:
    anthropic = clients("anthropic")
    sim = await start(models={"m": {"reader": "echo"}}, batches={"seconds": 1.0})
    root = sim.base_url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(api_key="k", base_url=root, max_retries=0) as client:
        made = await client.messages.batches.create(requests=[request(f"q{n}", "x") for n in range(20)])
        await asyncio.sleep(0.3)
        assert (await client.messages.batches.cancel(made.id)).processing_status == "canceling"
        batch = await until(lambda: client.messages.batches.retrieve(made.id), lambda b: b.processing_status, "ended")
        ends = [each.result.type async for each in await client.messages.batches.results(batch.id)]
    assert {*ends} == {"succeeded", "canceled"}
    assert len(ends) == 20


async def test_expired_items_are_told_apart_from_answered_ones(start: Start, clients: Any) -> None:
    anthropic = clients("anthropic")
    sim = await start(models={"m": {"reader": "echo"}}, batches={"expire": 0.5})
    root = sim.base_url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(api_key="k", base_url=root, max_retries=0) as client:
        made = await client.messages.batches.create(requests=[request(f"q{n}", "x") for n in range(40)])
        batch = await until(lambda: client.messages.batches.retrieve(made.id), lambda b: b.processing_status, "ended")
    counts = batch.request_counts
    assert counts.expired > 0
    assert counts.succeeded > 0
    assert counts.expired + counts.succeeded == 40
    assert (await sim.stats())["batches"]["expired_items"] == counts.expired

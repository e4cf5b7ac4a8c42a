"""The providers' own clients talk to the simulated provider without a complaint."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ...conftest import missing

if TYPE_CHECKING:
    from .conftest import Start

SCRIPT = {"reader": "script", "settings": {"patterns": {r"n < (\d+)": r"SELECT \1"}, "otherwise": "SELECT 0"}}
SCHEMA = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}


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
    shape: Any = reply.__class__
    shape.model_validate(reply.model_dump())


async def twice(call: Callable[[], Awaitable[object]]) -> None:
    """Call two times: the second one meets a limit that the first has used up."""
    await call()
    await call()


async def test_openai_chats(start: Start, clients: Any) -> None:
    openai = clients("openai")
    sim = await start(models={"m": {**SCRIPT, "reasoning_tokens": 5, "cached_share": 0.5}})
    async with openai.AsyncOpenAI(api_key="k", base_url=sim.base_url, max_retries=0) as client:
        done = await client.chat.completions.create(
            model="m",
            messages=[{"role": "developer", "content": "Write SQL."}, {"role": "user", "content": "n < 7"}],
            max_completion_tokens=50,
            reasoning_effort="low",
            response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
        )
    complete(done)
    assert (done.choices[0].message.content, done.choices[0].finish_reason) == ("SELECT 7", "stop")
    assert (done.usage.completion_tokens, done.usage.completion_tokens_details.reasoning_tokens) == (7, 5)


async def test_openai_asks_for_responses(start: Start, clients: Any) -> None:
    openai = clients("openai")
    sim = await start(models={"m": {**SCRIPT, "reasoning_tokens": 5}})
    async with openai.AsyncOpenAI(api_key="k", base_url=sim.base_url, max_retries=0) as client:
        done = await client.responses.create(
            model="m",
            instructions="Write SQL.",
            input="n < 7",
            max_output_tokens=50,
            reasoning={"effort": "low"},
            text={"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}},
            store=False,
        )
        cut = await client.responses.create(model="echo", input="a long question", max_output_tokens=1)
        refused = await client.responses.create(model="echo?refuse=1", input=[{"role": "user", "content": "x"}])
    for each in (done, cut, refused):
        complete(each)
    assert (done.output_text, done.status) == ("SELECT 7", "completed")
    assert done.usage.output_tokens_details.reasoning_tokens == 5
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert "can't help" in refused.output[0].content[0].refusal


@pytest.mark.parametrize(("kind", "error"), [("key", "AuthenticationError"), ("limit", "RateLimitError")])
async def test_openai_takes_our_errors_for_its_own(start: Start, clients: Any, kind: str, error: str) -> None:
    openai = clients("openai")
    sim = await start(key="right" if kind == "key" else None, limits={"requests_per_minute": 1, "window": 1})
    async with openai.AsyncOpenAI(api_key="wrong", base_url=sim.base_url, max_retries=0) as client:
        with pytest.raises(getattr(openai, error)):
            await twice(lambda: client.responses.create(model="echo", input="x"))


async def test_anthropic_asks_for_messages(start: Start, clients: Any) -> None:
    anthropic = clients("anthropic")
    sim = await start(models={"m": {**SCRIPT, "reasoning_tokens": 5, "cached_share": 0.5}})
    root = sim.base_url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(api_key="k", base_url=root, max_retries=0) as client:
        done = await client.messages.create(
            model="m",
            system=[{"type": "text", "text": "Write SQL, please."}],
            messages=[{"role": "user", "content": [{"type": "text", "text": "n < 7"}]}],
            max_tokens=6000,
            thinking={"type": "enabled", "budget_tokens": 5000},
        )
        refused = await client.messages.create(
            model="echo?refuse=1",
            messages=[{"role": "user", "content": "x"}],
            max_tokens=50,
            thinking={"type": "adaptive"},
            output_config={"effort": "medium", "format": {"type": "json_schema", "schema": SCHEMA}},
        )
    for each in (done, refused):
        complete(each)
    assert (done.content[0].text, done.stop_reason) == ("SELECT 7", "end_turn")
    usage = done.usage
    assert usage.input_tokens + usage.cache_read_input_tokens == 7
    assert (usage.output_tokens, usage.output_tokens_details.thinking_tokens) == (7, 5)
    assert (refused.stop_reason, refused.content) == ("refusal", [])
    assert "can't help" in refused.stop_details.explanation


@pytest.mark.parametrize(
    ("config", "asked", "error"),
    [
        ({"key": "right"}, {}, "AuthenticationError"),
        ({"limits": {"requests_per_minute": 1, "window": 1}}, {}, "RateLimitError"),
        ({"faults": {"529": 1}}, {}, "InternalServerError"),
        ({"context_tokens": 5}, {"max_tokens": 50}, "BadRequestError"),
        ({}, {"model": "nobody"}, "NotFoundError"),
        ({}, {"thinking": {"type": "enabled", "budget_tokens": 5000}}, "BadRequestError"),
        ({}, {"thinking": {"type": "enabled", "budget_tokens": 1}}, "BadRequestError"),
    ],
)
async def test_anthropic_takes_our_errors_for_its_own(
    start: Start, clients: Any, config: dict[str, Any], asked: dict[str, Any], error: str
) -> None:
    anthropic = clients("anthropic")
    sim = await start(**config)
    root = sim.base_url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(api_key="wrong", base_url=root, max_retries=0) as client:
        request = {"model": "echo", "messages": [{"role": "user", "content": "x"}], "max_tokens": 9, **asked}
        with pytest.raises(getattr(anthropic, error)) as caught:
            await twice(lambda: client.messages.create(**request))
    assert caught.value.body["type"] == "error"


async def test_google_generates_content(start: Start, clients: Any) -> None:
    genai = clients("google.genai")
    blocks = {"reader": "echo", "mistakes": {"filter": 1}}
    sim = await start(models={"m": {**SCRIPT, "reasoning_tokens": 5, "cached_share": 0.5}, "blocks": blocks})
    client = genai.Client(api_key="k", http_options={"base_url": sim.base_url.removesuffix("/v1")})
    done = await client.aio.models.generate_content(
        model="m",
        contents=[
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"text": "SELECT 0"}]},
            {"role": "user", "parts": [{"text": "n < 7"}]},
        ],
        config={
            "system_instruction": "Write SQL.",
            "max_output_tokens": 50,
            "temperature": 0,
            "seed": 3,
            "thinking_config": {"thinking_budget": 0},
            "response_mime_type": "application/json",
            "response_json_schema": SCHEMA,
        },
    )
    blocked = await client.aio.models.generate_content(model="blocks", contents="x")
    await client.aio.aclose()
    assert (done.text, done.candidates[0].finish_reason.value) == ("SELECT 7", "STOP")
    assert done.usage_metadata.thoughts_token_count == 5
    assert blocked.candidates is None
    assert blocked.prompt_feedback.block_reason.value == "PROHIBITED_CONTENT"


@pytest.mark.parametrize(
    ("config", "status"),
    [
        ({"key": "right"}, "INVALID_ARGUMENT"),
        ({"limits": {"requests_per_minute": 1, "window": 1}}, "RESOURCE_EXHAUSTED"),
        ({"faults": {"500": 1}}, "INTERNAL"),
    ],
)
async def test_google_takes_our_errors_for_its_own(
    start: Start, clients: Any, config: dict[str, Any], status: str
) -> None:
    genai = clients("google.genai")
    sim = await start(**config)
    client = genai.Client(api_key="wrong", http_options={"base_url": sim.base_url.removesuffix("/v1")})
    with pytest.raises(clients("google.genai.errors").APIError) as caught:
        await twice(lambda: client.aio.models.generate_content(model="echo", contents="x"))
    await client.aio.aclose()
    assert caught.value.status == status

"""Batch formats on replies from a table, and on replies that no provider should send."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.adapters.anthropic import AnthropicMessages
from turntide.adapters.base import Fatal, Fault, Message, Question, WireReply, WireRequest
from turntide.adapters.batches.anthropic import AnthropicBatches
from turntide.adapters.batches.base import Batch, BatchFormat, BatchItem, BatchRefused, Sought
from turntide.adapters.batches.openai import OpenAIBatches
from turntide.adapters.openai_chat import OpenAIChat

OPENAI, ANTHROPIC = OpenAIBatches(), AnthropicBatches()
QUESTION = Question(model="m", messages=(Message("user", "hi"),), options={"max_tokens": 5})


class Wire:
    """Replies in order with what it is given, and keeps what was sent."""

    def __init__(self, *replies: Any) -> None:
        self.sent: list[WireRequest] = []
        self._replies = [
            reply if isinstance(reply, WireReply) else WireReply(200, {}, json.dumps(reply).encode())
            for reply in replies
        ]

    async def __call__(self, request: WireRequest) -> WireReply:
        self.sent.append(request)
        return self._replies[min(len(self.sent), len(self._replies)) - 1]


def openai_batch(**fields: Any) -> dict[str, Any]:
    return {"id": "batch_1", "status": "in_progress", "created_at": 1000, **fields}


def message_batch(**fields: Any) -> dict[str, Any]:
    counts = {"processing": 1, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    moment = "1970-01-01T00:16:40Z"
    base = {"id": "msgbatch_1", "processing_status": "in_progress", "created_at": moment, "request_counts": counts}
    return {**base, **fields}


async def test_openai_gets_a_file_of_the_exact_bodies_and_a_batch_that_carries_the_token() -> None:
    wire = Wire({"id": "file-1"}, openai_batch())
    asked = OpenAIChat().build(QUESTION)
    assert OPENAI.takes(asked.path)
    made = await OPENAI.submit(wire, "tok", [BatchItem("a", asked), BatchItem("b", asked)])
    upload, create = wire.sent
    assert (upload.path, create.path, made.id) == ("/files", "/batches", "batch_1")
    assert dict(upload.headers)["content-type"] == "multipart/form-data; boundary=turntide-tok"
    lines = upload.body.split(b"\r\n\r\n")[2].split(b"\r\n--")[0].splitlines()
    assert [json.loads(line)["custom_id"] for line in lines] == ["a", "b"]
    assert all(b'"url":"/v1/chat/completions","body":' + asked.body + b"}" in line for line in lines)
    assert json.loads(create.body) == {
        "completion_window": "24h",
        "endpoint": "/v1/chat/completions",
        "input_file_id": "file-1",
        "metadata": {"turntide": "tok"},
    }


async def test_anthropic_gets_the_exact_bodies_under_their_own_version() -> None:
    wire = Wire(message_batch())
    asked = AnthropicMessages().build(QUESTION)
    assert ANTHROPIC.takes(asked.path)
    await ANTHROPIC.submit(wire, "tok", [BatchItem("a", asked)])
    assert wire.sent[0].path == "/v1/messages/batches"
    assert wire.sent[0].headers == asked.headers
    assert json.loads(wire.sent[0].body) == {"requests": [{"custom_id": "a", "params": json.loads(asked.body)}]}


@pytest.mark.parametrize(
    ("error", "reply"),
    [
        ({"code": "token_limit_exceeded", "message": "full"}, (Fault, "server", 60.0)),
        ({"code": "billing_hard_limit_reached", "message": "no money"}, (Fatal, "quota", None)),
        ({"code": "invalid_json_line", "message": "line 3"}, (Fatal, "bad_request", None)),
    ],
)
async def test_a_batch_that_failed_says_whether_to_wait_or_to_stop(error: dict[str, str], reply: Any) -> None:
    found = await OPENAI.look(Wire(openai_batch(status="failed", errors={"data": [error]})), "batch_1")
    trouble: Any = found.trouble
    assert (type(trouble), trouble.kind, getattr(trouble, "retry_after", None)) == reply


async def test_openai_finds_its_batch_by_the_token_over_several_pages_and_gives_up_at_its_time() -> None:
    other, mine = openai_batch(id="batch_0"), openai_batch(metadata={"turntide": "tok"})
    pages = [{"data": [other], "has_more": True}, {"data": [mine], "has_more": True}]
    wire = Wire(*pages)
    assert [each.id for each in await OPENAI.find(wire, Sought("tok", 1, 1000.0))] == ["batch_1"]
    assert wire.sent[1].path.endswith("&after=batch_0")
    assert await OPENAI.find(Wire({"data": [other], "has_more": True}), Sought("tok", 1, 9000.0)) == []


async def test_anthropic_offers_every_batch_of_the_same_size_and_time_that_is_not_known() -> None:
    old = message_batch(id="old", created_at="1969-01-01T00:00:00Z")
    large = message_batch(id="large", request_counts={"succeeded": 2})
    known, mine = message_batch(id="known"), message_batch(id="mine", processing_status="ended")
    wire = Wire({"data": [mine, known, large, old], "has_more": True})
    found = await ANTHROPIC.find(wire, Sought("tok", 1, 1000.0, frozenset({"known"})))
    assert [(each.id, each.ended, each.token) for each in found] == [("mine", True, None)]


OPENAI_LINES: list[tuple[Any, Any]] = [
    ({"response": {"status_code": 200, "body": {"a": 1}}, "error": None}, (200, b'{"a":1}')),
    ({"response": {"status_code": 429, "body": {}}, "error": None}, (429, b"{}")),
    ({"response": None, "error": {"code": "batch_expired", "message": "late"}}, ("timeout", "never ran: late")),
    ({"response": None, "error": {"code": "other", "message": "odd"}}, ("server", "odd")),
]
ANTHROPIC_LINES: list[tuple[Any, Any]] = [
    ({"result": {"type": "succeeded", "message": {"a": 1}}}, (200, b'{"a":1}')),
    ({"result": {"type": "expired"}}, ("timeout", "never ran: the batch expired first")),
    ({"result": {"type": "canceled"}}, ("timeout", "never ran: the batch was canceled first")),
    (
        {"result": {"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error"}}}},
        (529, b'{"type":"error","error":{"type":"overloaded_error"}}'),
    ),
]


@pytest.mark.parametrize(
    ("api", "line", "expected"),
    [(OPENAI, *case) for case in OPENAI_LINES] + [(ANTHROPIC, *case) for case in ANTHROPIC_LINES],
)
async def test_each_line_of_the_results_is_the_reply_of_its_item(api: BatchFormat, line: Any, expected: Any) -> None:
    body = b"not json\n" + json.dumps({"custom_id": "a", **line}).encode() + b"\n[]\n"
    ended = Batch(id="b", ended=True, how="completed", sources=("/one",))
    replies = [pair async for pair in api.replies(Wire(WireReply(200, {}, body)), ended)]
    reply = dict(replies)["a"]
    assert expected == ((reply.kind, reply.message) if isinstance(reply, Fault) else (reply.status, reply.body))


NAMES = """id status processing_status data errors metadata request_counts has_more created_at custom_id response
status_code error result type""".split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("api", [OPENAI, ANTHROPIC])
@settings(max_examples=40)
@given(
    body=JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40),
    status=st.sampled_from([200, 302, 400, 404, 413, 429, 500]),
)
def test_no_reply_however_broken_crashes_a_batch_format(api: BatchFormat, body: bytes, status: int) -> None:
    reply = WireReply(status, {}, body)
    item = BatchItem("a", WireRequest("/chat/completions", b"{}"))
    ended = Batch(id="b", ended=True, how="completed", sources=("/one",))

    async def take() -> None:
        async for _ in api.replies(Wire(reply), ended):
            pass

    uses: list[Callable[[], Any]] = [
        lambda: api.submit(Wire(reply), "tok", [item]),
        lambda: api.look(Wire(reply), "b"),
        lambda: api.find(Wire(reply, WireReply(200, {}, b"{}")), Sought("tok", 1, 0.0)),
        take,
    ]
    for use in uses:
        with suppress(BatchRefused):
            asyncio.run(use())

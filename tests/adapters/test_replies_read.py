"""Every wire format against the replies that its provider documents, and against replies that nobody should send."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict
from turntide.adapters.base import Answer, Fatal, Fault, Json, LimitHint, Usage, WireReply
from turntide.adapters.openai_chat import OpenAIChat
from turntide.adapters.wirejson import as_count

from ..support.formats import FORMATS
from ..support.replies import QUESTION, cases, damaged, expected_of, headers, reply_of, statuses


@pytest.mark.parametrize("path", cases(*FORMATS), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_reply_is_read_as_its_fixture_says(path: Path) -> None:
    case = json.loads(path.read_text())
    assert FORMATS[path.parent.name].read(reply_of(case), QUESTION) == expected_of(case), case["about"]


@pytest.mark.parametrize("name", FORMATS)
@settings(suppress_health_check=[HealthCheck.too_slow])  # its first inputs load what all later ones use
@given(data=st.data())
def test_no_reply_breaks_a_format_or_makes_an_answer_of_an_error(name: str, data: st.DataObject) -> None:
    status, sent, body = data.draw(statuses), data.draw(headers), data.draw(damaged(name))
    reply = WireReply(status=status, headers=sent, body=body)
    FORMATS[name].hints(reply)
    read = FORMATS[name].read(reply, QUESTION)
    if isinstance(read, Answer):
        assert 200 <= status < 300 or read.finish == "refused"
        assert all(0 <= count <= 4 * 10**12 for count in asdict(read.usage or Usage()).values())
        usage = read.usage or Usage()
        assert usage.cached_tokens + usage.cache_write_tokens <= usage.input_tokens
        assert usage.reasoning_tokens <= usage.output_tokens
    elif isinstance(read, Fault):
        assert read.retry_after is None or 0 <= read.retry_after < float("inf")
        assert read.paid == (status < 300)
    assert len(getattr(read, "message", "")) < 700


def test_limits_of_anthropic_are_read_from_its_headers() -> None:
    sent = {
        "anthropic-ratelimit-requests-limit": "4000",
        "anthropic-ratelimit-requests-remaining": "3999",
        "anthropic-ratelimit-requests-reset": "2026-09-21T13:20:15Z",
        "anthropic-ratelimit-input-tokens-limit": "2000000",
        "anthropic-ratelimit-tokens-limit": "400000",
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-09-21T13:19:00Z",
    }
    assert FORMATS["anthropic"].hints(WireReply(200, sent, b"")) == (
        LimitHint(resource="requests", limit=4000, remaining=3999, reset=15.0),
        LimitHint(resource="tokens", limit=400_000, remaining=0, reset=0.0),
    )
    del sent["anthropic-ratelimit-tokens-limit"], sent["anthropic-ratelimit-tokens-remaining"]
    del sent["anthropic-ratelimit-tokens-reset"]
    assert FORMATS["anthropic"].hints(WireReply(200, sent, b""))[1] == LimitHint(resource="tokens", limit=2_000_000)


def test_a_reset_of_anthropic_is_taken_by_the_servers_own_clock_when_ours_is_hours_wrong() -> None:
    sent = {
        "date": "Mon, 21 Sep 2026 18:20:00 GMT",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-09-21T18:20:02Z",
    }
    assert FORMATS["anthropic"].hints(WireReply(200, sent, b"")) == (
        LimitHint(resource="requests", limit=None, remaining=0, reset=2.0),
    )


def test_requests_of_groq_are_counted_by_the_day() -> None:
    sent = {
        "x-ratelimit-limit-requests": "14400",
        "x-ratelimit-remaining-requests": "14370",
        "x-ratelimit-reset-requests": "2m59.56s",
        "x-ratelimit-limit-tokens": "18000",
    }
    assert OpenAIChat(requests_window=86_400.0).hints(WireReply(200, sent, b"")) == (
        LimitHint(resource="requests", limit=14_400, remaining=14_370, reset=179.56, window=86_400.0),
        LimitHint(resource="tokens", limit=18_000),
    )


@pytest.mark.parametrize(("passes", "kind"), [(True, "rate_limit"), (False, "quota")])
def test_dashscope_says_quota_of_the_tokens_of_a_minute(passes: bool, kind: str) -> None:
    body = b'{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}'
    read = OpenAIChat(quota_passes=passes).read(WireReply(429, {}, body), QUESTION)
    assert isinstance(read, Fault | Fatal)
    assert read.kind == kind


@pytest.mark.parametrize(
    ("told", "counted"),
    [(5, 5), (5.0, 5), ("5", 5), (0, 0), (-1, None), (5.5, None), ("5.0", None), ("", None), (True, None), (None, None),
     (10**13, None), (float("nan"), None), (float("inf"), None), ("9" * 5000, None), ("\u0665", None)],
)  # fmt: skip
def test_a_count_of_tokens_is_a_whole_number_however_it_is_spelled(told: Json, counted: int | None) -> None:
    assert as_count(told) == counted
    usage = {"prompt_tokens": told, "completion_tokens": 1}
    body = json.dumps({"choices": [{"message": {"content": "x"}}], "usage": usage}).encode()
    read = OpenAIChat().read(WireReply(status=200, headers={}, body=body), QUESTION)
    assert isinstance(read, Answer)
    assert (read.usage and read.usage.input_tokens) == counted


PAGE = b"<!doctype html>\n<html>\x07<title>Welcome to nginx!</title>" + b"<p>more</p>" * 50


@pytest.mark.parametrize("name", FORMATS)
def test_a_page_with_a_200_is_quoted_and_the_base_url_suspected(name: str) -> None:
    read = FORMATS[name].read(WireReply(status=200, headers={}, body=PAGE), QUESTION)
    assert isinstance(read, Fault)
    assert "'<!doctype html> <html><title>Welcome to nginx!</title>" in read.message
    assert "Is the base URL right" in read.message
    assert len(read.message) < 250

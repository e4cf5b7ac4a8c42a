"""A key that a host quotes back shows nowhere: not whole, not cut, not in escapes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.adapters.base import Secret, WireFormat, WireReply
from turntide.adapters.redaction import redact_read, redact_reply

from ..support.formats import FORMATS
from ..support.replies import QUESTION

KEY = "sk-planted/0123456789+abcdef"


def read(wire: WireFormat, reply: WireReply) -> str:
    """Return what the engine would come to hold of a reply, in words."""
    cleaned = redact_reply(reply, Secret(KEY))
    return repr(redact_read(wire.read(cleaned, QUESTION), Secret(KEY))) + repr(cleaned)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40)
@given(
    status=st.sampled_from([200, 302, 400, 401, 403, 429, 500]),
    before=st.integers(0, 520),
    spelled=st.sampled_from([KEY, KEY.replace("/", "\\/"), KEY.replace("-", "\\u002d")]),
)
def test_a_planted_key_is_in_nothing_that_is_read(name: str, status: int, before: int, spelled: str) -> None:
    said = f'"{"x" * before} {spelled} is not a key"'
    for body in (
        f'{{"error": {{"message": {said}, "type": {said}, "code": "x"}}}}',
        f'{{"choices": [{{"message": {{"content": {said}, "reasoning": {said}, "refusal": {said}}}}}]}}',
        f'{{"content": [{{"type": "text", "text": {said}}}], "model": {said}, "stop_reason": {said}}}',
        f'{{"candidates": [{{"content": {{"parts": [{{"text": {said}}}]}}, "finishReason": {said}}}]}}',
        f'{{"status": "completed", "output": [{{"type": "message", "content": [{{"text": {said}}}]}}]}}',
        said,
    ):
        shown = read(FORMATS[name], WireReply(status, {"location": f"http://h/{KEY}"}, body.encode()))
        assert KEY not in shown
        assert "sk-planted" not in shown or "u002d" in spelled  # nor a part of it, where a message is cut


def test_a_placeholder_is_left_alone() -> None:
    reply = WireReply(200, {}, json.dumps({"choices": [{"message": {"content": "SELECT none"}}]}).encode())
    assert redact_reply(reply, Secret("none")) is reply
    assert redact_reply(reply, Secret("")) is reply

"""Replies of providers as cases in tests/fixtures, and replies that no provider should send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from turntide.adapters.base import Answer, Fatal, Fault, Message, Question, Usage, WireReply

from .cases import FIXTURES

NOW = 1789996800.0
"""Mon, 21 Sep 2026 13:20:00 GMT, which the fixtures' dates count from."""

QUESTION = Question(model="m", messages=(Message("system", "Write SQL."), Message("user", "How many?")))


def cases(*folders: str) -> list[Path]:
    """Return the files of the folders, each one reply and what it must be read as."""
    return [path for folder in folders for path in sorted((FIXTURES / folder).glob("*.json"))]


def reply_of(case: dict[str, Any]) -> WireReply:
    """Return the reply that a case describes."""
    body = case["text"] if "text" in case else json.dumps(case["body"])
    return WireReply(status=case["status"], headers=case.get("headers", {}), body=body.encode())


def expected_of(case: dict[str, Any]) -> Answer | Fault | Fatal:
    """Return what a case's reply must be read as."""
    ((kind, fields),) = case["expected"].items()
    if kind != "Answer":
        return {"Fault": Fault, "Fatal": Fatal}[kind](**fields)
    usage = fields.pop("usage")
    return Answer(usage=None if usage is None else Usage(**usage), **fields)


headers = st.dictionaries(
    st.sampled_from(["retry-after", "retry-after-ms", "location", "x-ratelimit-reset"])
    | st.sampled_from(["limit", "remaining", "reset"]).map(lambda part: f"x-ratelimit-{part}-tokens")
    | st.sampled_from(["limit", "remaining", "reset"]).map(lambda part: f"anthropic-ratelimit-requests-{part}"),
    st.text(max_size=30)
    | st.sampled_from(
        ["1e999", "-5", "nan", "Mon, 99 Foo 2026", "0", "9" * 40, "1m2s", "2026-11-30T00:00:00Z", "9999-12-31T23:59:59"]
    ),
    max_size=4,
)
statuses = st.integers(-1, 1100) | st.sampled_from([200, 400, 401, 403, 429, 500, 529])


def damaged(folder: str) -> st.SearchStrategy[bytes]:
    """Return bodies that begin as the good and bad ones of a folder, and are then cut, or changed somewhere inside."""
    bodies = [reply_of(json.loads(path.read_text())).body for path in cases(folder)]
    values = [json.loads(body) for body in bodies if _is_json(body)]
    cut = st.sampled_from(bodies).flatmap(lambda body: st.integers(0, len(body)).map(lambda end: body[:end]))
    changed = st.sampled_from(values).flatmap(_changed).map(lambda value: json.dumps(value).encode())
    return st.binary(max_size=60) | cut | changed


_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner), max_leaves=4
)


@st.composite
def _changed(draw: st.DrawFn, value: Any) -> Any:
    """Return `value` with some of its parts replaced by anything, at any depth."""
    if draw(st.integers(0, 7)) == 0:
        return draw(_values)
    if isinstance(value, dict):
        return {name: draw(_changed(part)) for name, part in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [draw(_changed(part)) for part in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True

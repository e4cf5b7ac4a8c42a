"""Operations, counted by hand on journals written by the real Journal."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import Answer, Fault, Usage
from turntide.engine.calls.ledger import answer_line, fail_line, sent_line
from turntide.engine.folder.manifest import Manifest
from turntide.engine.journal import Journal, Key, Line
from turntide.results.operation_tables import operation_tables
from turntide.results.operations import Operations, Spread
from turntide.results.reading import RunFolder
from turntide.results.text import render

ANSWER = Answer(text="SELECT 1", model="one-mini", usage=Usage(input_tokens=1))
BUSY = Fault(kind="rate_limit", message="slow down", status=429)
DROPPED = Fault(kind="network", message="the connection was reset", paid=True)
LINES: list[Line] = [
    {"k": "part", "began": "2026-01-01T00:00:00.000+00:00", "planned": {"one": 2, "two": 1}},
    sent_line(Key("u1"), 1, "h", Decimal("0.5"), "one"),
    fail_line(Key("u1"), 1, BUSY),
    {"k": "limit", "account": "p/a", "at": 1.0, "limit": "in_flight", "old": 8, "new": 4, "why": "rate_limit"},
    {"k": "limit", "account": "p/a", "at": 2.0, "limit": "in_flight", "old": 4, "new": 2, "why": "rate_limit"},
    sent_line(Key("u1"), 2, "h", Decimal("0.5"), "one"),
    fail_line(Key("u1"), 2, DROPPED),
    sent_line(Key("u1"), 3, "h", Decimal("0.5"), "one"),
    answer_line(Key("u1"), 3, "h", ANSWER, Decimal("0.1"), 2.0, 1.0, 1_800_000_000.0),
    {"k": "end", "u": "u1", "m": "one"},
    sent_line(Key("u2"), 1, "h", Decimal("0.25"), "one"),
    {"k": "part", "began": "2026-01-01T01:00:00.000+00:00", "planned": {"one": 2, "two": 1}},
    sent_line(Key("u2"), 2, "h", Decimal("0.25"), "one"),
    answer_line(Key("u2"), 2, "h", ANSWER, Decimal("0.1"), 0.0, 3.0, 1_800_000_000.0),
    {"k": "part", "ended": "2026-01-01T01:00:02.500+00:00", "state": "incomplete", "reasons": ["two stopped: no key"]},
]
"""One call that met a 429 and a drop, one that was on the wire when the first process was killed."""


@pytest.fixture
def operations(tmp_path: Path) -> Operations:
    models: list[Any] = [{"label": name, "id": f"sim/{name}", "options": {}} for name in ("one", "two")]
    with Journal.open(tmp_path / "journal.jsonl") as journal:
        for line in LINES:
            journal.append(line)
    return Operations.of(RunFolder(tmp_path, Manifest(run="r", identity={"models": models}, settings={})))


def test_dialogues_sends_answers_and_failures_are_counted_per_model(operations: Operations) -> None:
    one, two = operations.models["one"], operations.models["two"]
    assert (one.planned, one.done, one.sends, one.answers) == (2, 1, 5, 2)
    assert (two.planned, two.done, two.sends, two.answers) == (1, 0, 0, 0)
    assert one.failures == {"rate_limit": 1, "network": 1}
    assert one.returned == {"one-mini": 2}
    assert operations.last_failure == "the connection was reset"


def test_what_was_sent_and_never_priced_stays_exposed_at_its_worst_case(operations: Operations) -> None:
    assert operations.budget.known == Decimal("0.2")
    assert operations.budget.exposed == Decimal("0.75")  # the drop after the send, and the call that was killed
    assert operations.open == 1


def test_a_part_that_was_killed_has_no_end(operations: Operations) -> None:
    assert [(part.wall, part.state, part.reasons) for part in operations.parts] == [
        (None, "", ()),
        (2.5, "incomplete", ("two stopped: no key",)),
    ]


def test_limit_changes_are_summed_up_by_reason(operations: Operations) -> None:
    assert operations.to_json()["limit_changes"] == [
        {"account": "p/a", "limit": "in_flight", "why": "rate_limit", "count": 2, "latest": 2}
    ]


def test_json_and_tables_say_the_same(operations: Operations) -> None:
    found = operations.to_json()
    assert found["models"]["one"]["queue_seconds"]["sum"] == 2
    assert found["models"]["one"]["model_seconds"]["p50"] == pytest.approx(1, rel=0.011)
    assert found["models"]["two"]["model_seconds"]["p50"] is None
    text = render(operation_tables(operations))
    assert "network 1, rate_limit 1" in text
    assert "0.200000      0.750000      0.950000" in text
    assert "1 sends have no reply on record" in text
    assert "no end on record" in text


@given(st.lists(st.floats(0.002, 10_000), min_size=1), st.sampled_from([0.5, 0.9, 0.99]))
def test_quantiles_are_within_one_percent(durations: list[float], share: float) -> None:
    spread = Spread()
    for duration in durations:
        spread.add(duration)
    at = next(n for n in range(1, len(durations) + 1) if n >= share * len(durations))
    assert spread.quantile(share) == pytest.approx(sorted(durations)[at - 1], rel=0.011)


def test_what_takes_no_time_counts_as_nothing() -> None:
    spread = Spread()
    spread.add(0.0)
    assert (spread.quantile(0.5), spread.quantile(0.99), Spread().quantile(0.5)) == (0.0, 0.0, None)


def test_batches_are_listed_and_open_ones_are_told(tmp_path: Path) -> None:
    made = {"k": "batch", "made": "2026-01-01T00:00:00.000+00:00", "m": "one", "calls": 2}
    lines: list[dict[str, Any]] = [
        {**made, "batch": "t1"},
        {"k": "batch", "batch": "t1", "id": "batch_1", "at": "2026-01-01T00:00:01.000+00:00"},
        {"k": "batch", "batch": "t1", "ended": "2026-01-01T00:01:00.000+00:00", "how": "expired", "answers": 1},
        {**made, "batch": "t2"},
    ]
    with Journal.open(tmp_path / "journal.jsonl") as journal:
        for line in lines:
            journal.append(line)
    models: list[Any] = [{"label": "one", "id": "sim/one", "options": {}}]
    operations = Operations.of(RunFolder(tmp_path, Manifest(run="r", identity={"models": models}, settings={})))
    first, second = operations.batches.values()
    assert (first.id, first.how, first.answers) == ("batch_1", "expired", 1)
    assert operations.open_batches == [second]
    assert "batch_1" in render(operation_tables(operations), 160)
    assert [batch["how"] for batch in operations.to_json()["batches"]] == ["expired", ""]

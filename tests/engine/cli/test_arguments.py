"""Words of the command line that mean moments."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from turntide.engine.cli.arguments import moment


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put this machine into Berlin."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


MOMENTS = [
    ("2026-11-30T22:00+01:00", "07:30", "2026-12-01T06:30"),
    ("2026-11-30T22:00+01:00", "7:30", "2026-12-01T06:30"),
    ("2026-12-01T07:29:59+01:00", "07:30", "2026-12-01T06:30"),
    ("2026-12-01T07:30+01:00", "07:30", "2026-12-02T06:30"),
    # Summer time begins in the night: the clock shows 07:30 an hour earlier than it would have.
    ("2026-03-28T22:00+01:00", "07:30", "2026-03-29T05:30"),
    # It never shows 02:30 that night, and goes from 02:00 to 03:00: the moment is the one at which it shows 03:30.
    ("2026-03-28T22:00+01:00", "02:30", "2026-03-29T01:30"),
    # Summer time ends: the night is an hour longer, and 02:30 comes twice; the first to come is meant.
    ("2026-10-24T22:00+02:00", "07:30", "2026-10-25T06:30"),
    ("2026-10-24T22:00+02:00", "02:30", "2026-10-25T00:30"),
    ("2026-10-25T02:45+02:00", "02:30", "2026-10-25T01:30"),
    ("2026-11-30T22:00+01:00", "2026-12-01T07:30", "2026-12-01T06:30"),
    ("2026-11-30T22:00+01:00", "2026-12-01T07:30:00Z", "2026-12-01T07:30"),
    ("2026-11-30T22:00+01:00", "2026-12-01T07:30-05:00", "2026-12-01T12:30"),
]


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(("now", "text", "expected"), MOMENTS)
def test_a_moment_is_the_next_one_at_which_the_local_clock_shows_it(now: str, text: str, expected: str) -> None:
    found = moment(text, datetime.fromisoformat(now))
    assert found == datetime.fromisoformat(expected).replace(tzinfo=UTC)
    assert found.utcoffset() == timedelta(0)

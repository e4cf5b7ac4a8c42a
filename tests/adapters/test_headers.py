"""Waiting times and limits, in every spelling that providers use."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.headers import duration, limit_hint, retry_after, timestamp

NOW = 1789996800.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1m12.5s", 72.5),
        ("6m0s", 360.0),
        ("20ms", 0.02),
        ("1h2m3s", 3723.0),
        ("1d", 86400.0),
        ("7.66s", 7.66),
        (" 2s ", 2.0),
        ("12", 12.0),
        ("0", 0.0),
        ("-3", 0.0),
        ("", None),
        ("soon", None),
        ("1m and more", None),
        ("m", None),
        ("nan", None),
        ("1e999", None),
        ("2026-09-21T13:20:00Z", None),
    ],
)
def test_durations_are_read_in_every_spelling(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-09-21T13:20:00Z", NOW),
        ("2026-09-21T15:20:00.5+02:00", NOW + 0.5),
        ("2026-09-21T13:20:00", None),
        ("soon", None),
        ("", None),
        ("9999-99-99T00:00:00Z", None),
    ],
)
def test_moments_are_read_when_they_name_their_zone(text: str, moment: float | None) -> None:
    assert timestamp(text) == moment


@pytest.mark.parametrize("wrong", [-5 * 3600, 7 * 3600])
def test_a_clock_that_is_hours_wrong_does_not_turn_seconds_into_hours(wrong: float) -> None:
    in_a_moment = {"date": formatdate(NOW, usegmt=True), "retry-after": formatdate(NOW + 4, usegmt=True)}
    assert retry_after(in_a_moment, NOW + wrong) == 4.0
    openrouters = {"date": formatdate(NOW, usegmt=True), "x-ratelimit-reset": str((NOW + 4) * 1000)}
    assert retry_after(openrouters, NOW + wrong) == 4.0


def test_a_reply_that_was_long_on_its_way_is_read_by_our_own_clock() -> None:
    late = {"date": formatdate(NOW - 20, usegmt=True), "retry-after": formatdate(NOW + 4, usegmt=True)}
    assert retry_after(late, NOW) == 4.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "Mon, 21 Sep 2026 13:21:00 GMT"}, 60.0),
        ({"retry-after": "Mon, 21 Sep 2026 15:21:00 +0200"}, 60.0),
        ({"retry-after": "Mon, 21 Sep 2026 13:21:00 -0000"}, 60.0),
        ({"retry-after": "Monday, 21-Sep-26 13:21:00 GMT"}, 60.0),
        ({"retry-after": "Sun, 20 Sep 2026 13:21:00 GMT"}, 0.0),
        ({"retry-after": "in a while"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"x-ratelimit-reset": "1789996821000"}, 21.0),
        ({"x-ratelimit-reset": "1789996700000"}, 0.0),
        ({"x-ratelimit-reset": "7"}, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 1.0),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "0",
            },
            360.0,
        ),
    ],
)
def test_the_wait_is_what_the_server_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.integers(0, 4_000_000_000))
def test_any_http_date_ahead_is_waited_for_exactly(moment: int) -> None:
    assert retry_after({"retry-after": formatdate(moment, usegmt=True)}, NOW) == max(0.0, moment - NOW)


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    timestamp(text)
    for header in ("retry-after", "retry-after-ms", "x-ratelimit-reset-tokens", "x-ratelimit-reset"):
        wait = retry_after({header: text}, NOW)
        assert wait is None or 0 <= wait < float("inf")


def test_a_silent_server_gives_no_hint() -> None:
    assert limit_hint({"x-ratelimit-limit-tokens": "lots"}, "tokens") is None

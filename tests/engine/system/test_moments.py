"""Moments of one process: what passes between two of them is time."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from turntide.engine.system.moments import unix_now, utc_now


def test_a_wall_clock_that_is_set_makes_no_duration_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    before = utc_now()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert timedelta(0) <= utc_now() - before < timedelta(minutes=1)


def test_moments_are_those_of_the_wall_clock_that_the_process_started_with() -> None:
    assert unix_now() == pytest.approx(time.time(), abs=5)

"""Honest limits: nothing above them passes, nothing below them is refused, and the waits they name are true."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.simulated.config import Limits
from turntide.adapters.simulated.failure import Failure
from turntide.adapters.simulated.limits import Allowance, Gate

from ...support.time import HandClock


@pytest.mark.parametrize("limit", [1, 7, 60, 600, 35_000])
def test_exactly_a_minutes_worth_passes_at_once(limit: int, clock: HandClock) -> None:
    gate = Gate(Limits(requests_per_minute=limit), clock)
    for _ in range(limit):
        gate.enter(0)
    with pytest.raises(Failure) as caught:
        gate.enter(0)
    assert isclose(caught.value.retry_after or 0, 60 / limit, abs_tol=1e-6)


def test_the_wait_that_a_refusal_names_is_enough_and_not_more(clock: HandClock) -> None:
    gate = Gate(Limits(requests_per_minute=60, tokens_per_minute=600), clock)
    gate.enter(600)
    with pytest.raises(Failure) as caught:
        gate.enter(100)
    assert caught.value.kind == "tokens"
    assert isclose(caught.value.retry_after or 0, 10)
    clock.now += 9.9
    with pytest.raises(Failure):
        gate.enter(100)
    clock.now += 0.1
    gate.enter(100)


def test_a_refused_request_costs_nothing(clock: HandClock) -> None:
    gate = Gate(Limits(requests_per_minute=10, tokens_per_minute=100), clock)
    gate.enter(100)
    for _ in range(50):
        with pytest.raises(Failure):
            gate.enter(1)
    assert {hint.resource: hint.remaining for hint in gate.hints()} == {"requests": 9, "tokens": 0}


def test_a_silent_account_refuses_as_strictly_and_tells_of_nothing(clock: HandClock) -> None:
    gate = Gate(Limits(requests_per_minute=60, window=1, headers=False), clock)
    gate.enter(1)
    with pytest.raises(Failure):
        gate.enter(1)
    assert gate.hints() == ()


def test_tokens_are_settled_to_what_was_used(clock: HandClock) -> None:
    gate = Gate(Limits(tokens_per_minute=1000), clock)
    gate.enter(900)
    gate.settle(900, 300)
    (hint,) = gate.hints()
    assert hint.remaining == 700
    assert isclose(hint.reset or 0, 18)


def test_a_cost_above_the_whole_allowance_passes_when_it_is_full(clock: HandClock) -> None:
    gate = Gate(Limits(tokens_per_minute=100), clock)
    gate.enter(5000)
    with pytest.raises(Failure) as caught:
        gate.enter(1)
    assert caught.value.retry_after is not None
    clock.now += caught.value.retry_after
    gate.enter(1)


def test_a_short_window_enforces_the_limit_second_by_second(clock: HandClock) -> None:
    gate = Gate(Limits(requests_per_minute=600, window=1.0), clock)
    for _ in range(10):
        gate.enter(0)
    with pytest.raises(Failure):
        gate.enter(0)
    clock.now += 1.0
    for _ in range(10):
        gate.enter(0)


def test_calls_in_flight_are_bounded_until_one_leaves(clock: HandClock) -> None:
    gate = Gate(Limits(concurrent=2), clock)
    gate.enter(0)
    gate.enter(0)
    with pytest.raises(Failure, match="concurrent"):
        gate.enter(0)
    gate.leave()
    gate.enter(0)


def test_a_quota_ends_for_good_after_so_many_answers(clock: HandClock) -> None:
    gate = Gate(Limits(quota=1), clock)
    gate.enter(0)
    gate.settle(0, 0)
    clock.now += 1e6
    with pytest.raises(Failure) as caught:
        gate.enter(0)
    assert (caught.value.kind, caught.value.retry_after) == ("quota", None)


@given(
    st.integers(1, 1000),
    st.lists(st.tuples(st.floats(0, 30), st.integers(1, 200)), max_size=60),
)
def test_no_window_lets_more_through_than_one_burst_and_its_refill(
    per_minute: int, arrivals: list[tuple[float, int]]
) -> None:
    clock = HandClock()
    allowance = Allowance(per_minute, 60.0, clock)
    passed: list[tuple[float, int]] = []
    for gap, cost in arrivals:
        clock.now += gap
        cost = min(cost, per_minute)
        if not allowance.wait(cost):
            allowance.take(cost)
            passed.append((clock.now, cost))
        for start, _ in passed:
            total = sum(units for at, units in passed if at >= start)
            assert total <= per_minute * (1 + (clock.now - start) / 60) + 1e-3


@given(st.integers(1, 1000), st.lists(st.integers(1, 200), min_size=1, max_size=40))
def test_whoever_waits_as_told_is_let_through(per_minute: int, costs: list[int]) -> None:
    clock = HandClock()
    allowance = Allowance(per_minute, 60.0, clock)
    for cost in costs:
        clock.now += allowance.wait(cost)
        assert allowance.wait(cost) == 0
        allowance.take(cost)

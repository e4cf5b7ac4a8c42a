"""Limits of one account, by a clock that the test moves."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import Fault, Json, LimitHint
from turntide.engine.calls.budget import Budget
from turntide.engine.calls.limits.account import AccountLimits, Limits
from turntide.engine.calls.limits.clock import loop_time
from turntide.engine.calls.limits.flight import START, Flight
from turntide.engine.calls.limits.requests import RequestRate
from turntide.engine.calls.limits.tokens import TokenRate
from turntide.engine.calls.turnstile import OwnTurnstile, Purse
from turntide.engine.errors import Unfinished

from ...support.time import HandClock, run_jumping


def _send_for(rate: RequestRate, clock: HandClock, seconds: float) -> list[float]:
    end, sent = clock.now + seconds, list[float]()
    while clock.now < end:
        wait = rate.wait()
        if wait:
            clock.pass_(wait)
        else:
            rate.take()
            sent.append(clock.now)
    return sent


@pytest.mark.parametrize("per_minute", [7, 60, 600, 3500, 30_000])
def test_requests_reach_97_percent_of_the_limit_and_never_pass_it_in_any_minute(per_minute: int) -> None:
    clock = HandClock()
    sent = _send_for(RequestRate(per_minute, clock), clock, 180)
    assert len(sent) >= 0.97 * per_minute * 3
    first = 0
    for last, at in enumerate(sent):
        while sent[first] <= at - 60:
            first += 1
        assert last - first + 1 <= per_minute


@pytest.mark.parametrize("late", [0.002, 0.02])
def test_late_wake_ups_cost_nothing_of_the_limit_and_never_pass_it(late: float) -> None:
    clock = HandClock()
    rate = RequestRate(600, clock)
    sent: list[float] = []
    while clock.now < 1000 + 180:
        clock.pass_(rate.wait() + late)
        while rate.wait() == 0:
            rate.take()
            sent.append(clock.now)
    assert len(sent) >= 0.97 * 600 * 3
    assert max(sum(1 for at in sent if second <= at < second + 1) for second in map(int, sent)) <= 12


def test_requests_are_spread_over_the_minute_instead_of_fired_at_its_edge() -> None:
    clock = HandClock()
    sent = _send_for(RequestRate(600, clock), clock, 60)
    assert max(sum(1 for at in sent if second <= at < second + 1) for second in map(int, sent)) <= 12


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=60), st.integers(600, 100_000))
def test_tokens_of_any_minute_stay_within_the_limit_and_one_call(sizes: list[int], per_minute: int) -> None:
    clock = HandClock()
    rate = TokenRate(per_minute, clock)
    sent: list[tuple[float, int]] = []
    for size in sizes:
        clock.pass_(rate.wait(size))
        assert rate.wait(size) == 0
        rate.take(size)
        sent.append((clock.now, size))
    for at, _ in sent:
        window = [size for when, size in sent if at - 60 < when <= at]
        assert sum(window) <= per_minute + max(sizes)


def test_unused_tokens_are_given_back() -> None:
    clock = HandClock()
    rate = TokenRate(6000, clock)
    rate.take(285)
    assert rate.wait(200) > 0
    rate.refund(285)
    assert rate.wait(200) == 0


def test_a_call_larger_than_the_bucket_waits_once_and_not_for_ever() -> None:
    clock = HandClock()
    rate = TokenRate(600, clock)
    rate.take(10)
    clock.pass_(rate.wait(100_000))
    assert rate.wait(100_000) == 0


def test_an_adaptive_bound_doubles_until_the_first_push_back_and_then_grows_by_one() -> None:
    flight = Flight(1000, adaptive=True)
    assert flight.bound == START
    while not flight.success():
        pass
    assert flight.bound == 2 * START
    assert flight.push_back()
    shrunk = flight.bound
    assert shrunk < 2 * START
    while not flight.success():
        pass
    assert flight.bound == shrunk + 1


def test_one_429_pauses_the_account_once_however_many_were_on_the_wire() -> None:
    clock, changes = HandClock(), list[dict[str, Json]]()
    limits = AccountLimits(Limits(requests_per_minute=600), clock, changes.append)
    fault = Fault(kind="rate_limit", message="slow down", status=429, retry_after=7.0)
    for _ in range(50):
        limits.pushed_back(fault, fallback=2.0)
    assert limits.pauses == 1
    assert limits.wait(1) == pytest.approx(7.0)  # pyright: ignore[reportUnknownMemberType]
    assert [change["limit"] for change in changes] == ["pause", "requests_per_minute"]
    clock.pass_(7.0)
    assert limits.wait(1) == 0


def test_a_servers_lower_limit_is_adopted_from_its_headers() -> None:
    clock = HandClock()
    limits = AccountLimits(Limits(requests_per_minute=600), clock, lambda change: None)
    limits.hinted([LimitHint(resource="requests", limit=540, remaining=539, reset=0.1)])
    assert limits.requests is not None
    assert limits.requests.per_minute == 540
    limits.hinted([LimitHint(resource="requests", limit=9000)])
    assert limits.requests.per_minute == 540


def test_an_allowance_for_a_day_is_no_pace_until_it_is_used_up() -> None:
    limits = AccountLimits(Limits(), HandClock(), lambda change: None)
    limits.hinted([LimitHint(resource="requests", limit=14_400, remaining=14_000, reset=6.0, window=86_400.0)])
    assert limits.requests is None
    assert limits.wait(1) == 0
    limits.hinted([LimitHint(resource="requests", limit=14_400, remaining=0, reset=6.0, window=86_400.0)])
    assert limits.wait(1) == pytest.approx(6.0)  # pyright: ignore[reportUnknownMemberType]


def test_a_used_up_limit_waits_for_its_reset() -> None:
    clock = HandClock()
    limits = AccountLimits(Limits(), clock, lambda change: None)
    limits.hinted([LimitHint(resource="requests", limit=100, remaining=0, reset=12.0)])
    assert limits.wait(1) == pytest.approx(12.0)  # pyright: ignore[reportUnknownMemberType]


def _turnstile(limits: Limits, cap: str | None = None) -> tuple[OwnTurnstile, Budget]:
    budget = Budget(cap=Decimal(cap) if cap else None)
    return OwnTurnstile(AccountLimits(limits, loop_time, lambda change: None), Purse(budget), loop_time), budget


def test_grants_come_in_the_order_of_asking() -> None:
    async def main() -> list[int]:
        turnstile, _ = _turnstile(Limits(requests_per_minute=6000, in_flight=10_000))
        order: list[int] = []

        async def one(number: int) -> None:
            await turnstile.enter("m", 1, Decimal(0))
            order.append(number)

        await asyncio.gather(*(one(number) for number in range(500)))
        return order

    assert run_jumping(main()) == list(range(500))


def test_a_cap_admits_as_many_cheap_calls_as_it_can_pay_and_then_stops_the_run() -> None:
    async def main() -> tuple[int, str, Budget]:
        turnstile, budget = _turnstile(Limits(in_flight=64), cap="1.00")
        sent, why = 0, ""

        async def one() -> None:
            nonlocal sent, why
            try:
                await turnstile.enter("m", 1, Decimal("0.05"))
            except Unfinished as stop:
                why = stop.why
                return
            sent += 1
            await asyncio.sleep(1)
            turnstile.leave(1, 1, Decimal("0.05"), Decimal("0.0066"))

        await asyncio.gather(*(one() for _ in range(1000)))
        return sent, why, budget

    sent, why, budget = run_jumping(main())
    assert why == "budget"
    assert budget.cap is not None
    assert budget.known <= budget.cap
    assert sent > (1 - 0.05) / 0.0066 - 2


def test_a_cancelled_waiter_gives_its_grant_back() -> None:
    async def main() -> int:
        turnstile, budget = _turnstile(Limits(in_flight=1), cap="1")
        await turnstile.enter("m", 1, Decimal("0.1"))
        waiter = asyncio.create_task(turnstile.enter("m", 1, Decimal("0.1")))
        await asyncio.sleep(0.1)
        turnstile.leave(1, 1, Decimal("0.1"), Decimal("0.1"))
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        await asyncio.sleep(0.1)
        assert budget.reserved == 0
        assert isinstance(turnstile.limits, AccountLimits)
        return turnstile.limits.flight.now

    assert run_jumping(main()) == 0


def test_closing_turns_away_who_waits_and_who_comes() -> None:
    async def main() -> list[str]:
        turnstile, _ = _turnstile(Limits(in_flight=1))
        await turnstile.enter("m", 1, Decimal(0))
        waiters = [asyncio.create_task(turnstile.enter("m", 1, Decimal(0))) for _ in range(3)]
        await asyncio.sleep(0)
        turnstile.close(Unfinished("draining", "ending"))
        waiters.append(asyncio.create_task(turnstile.enter("m", 1, Decimal(0))))
        ended = await asyncio.gather(*waiters, return_exceptions=True)
        return [stop.why for stop in ended if isinstance(stop, Unfinished)]

    assert run_jumping(main()) == ["draining"] * 4


def test_refusals_at_any_rate_never_lower_a_stated_limit_below_a_quarter() -> None:
    clock = HandClock()
    limits = AccountLimits(Limits(requests_per_minute=2000), clock, lambda change: None)
    assert limits.requests is not None
    for _ in range(100):
        limits.pushed_back(Fault(kind="rate_limit", message="busy", retry_after=1.0), 1.0)
        clock.pass_(2)
    assert limits.requests.per_minute == 500


def test_a_lowered_rate_comes_back_carefully_and_then_soon() -> None:
    clock = HandClock()
    changes: list[dict[str, Json]] = []
    limits = AccountLimits(Limits(requests_per_minute=2000), clock, changes.append)
    assert limits.requests is not None
    while limits.requests.per_minute > 500:
        limits.pushed_back(Fault(kind="rate_limit", message="busy", retry_after=1.0), 1.0)
        clock.pass_(2)
    rates: list[float] = []
    for _ in range(9):
        clock.pass_(60)
        limits.answered()
        rates.append(round(limits.requests.per_minute))
    assert rates == [510, 530, 573, 664, 877, 1158, 1528, 2000, 2000]
    assert [change["why"] for change in changes[-8:]] == ["recovery"] * 8

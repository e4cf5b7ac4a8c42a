"""What shards hold in common: limits that all keep together, in a real Redis, by a clock that the test moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from turntide.adapters.base import Fault, LimitHint
from turntide.engine.calls.limits.account import RETURN, AccountLimits, Limits
from turntide.engine.shards.commons import CLAIM, LEASE, Ask, Book, Given
from turntide.engine.shards.turnstile import POLL, SharedLimits

from ...support.commons import FREE, Shard, Table

pytestmark = pytest.mark.real("redis")

CALL = Ask(tokens=100, usd=0)


@pytest.fixture
def table(redis_url: str) -> Iterator[Table]:
    table = Table(redis_url)
    yield table
    table.close()


def _sent(table: Table, shards: Sequence[Shard], ask: Ask, seconds: float) -> list[float]:
    """Let all shards ask as soon as they may, for a while; return when calls went out. Each lands at once."""
    end, sent = table.clock.now + seconds, list[float]()
    waits = {shard.number: table.clock.now for shard in shards}
    while table.clock.now < end:
        for shard in shards:
            if waits[shard.number] <= table.clock.now:
                granted = shard.ask(*[ask] * 32)
                sent.extend([table.clock.now] * granted.granted)
                for _ in range(granted.granted):
                    shard.land(ask, 0)
                waits[shard.number] = table.clock.now + (granted.wait or 0.0) + 0.001
        table.clock.pass_(min(waits.values()) - table.clock.now)
    return sent


@pytest.mark.parametrize("per_minute", [7, 300])
def test_four_shards_reach_97_percent_of_one_limit_and_never_pass_it_in_any_minute(
    table: Table, per_minute: int
) -> None:
    known = Given(rpm=per_minute, tpm=None, in_flight=1_000, adaptive=False)
    sent = _sent(table, [Shard(table, number, 4, known) for number in range(4)], CALL, 120)
    assert len(sent) >= 0.97 * per_minute * 2
    first = 0
    for last, at in enumerate(sent):
        while sent[first] <= at - 60:
            first += 1
        assert last - first + 1 <= per_minute


def test_four_shards_reach_90_percent_of_a_token_limit_and_never_pass_it(table: Table) -> None:
    known = Given(rpm=None, tpm=60_000, in_flight=1_000, adaptive=False)
    large = Ask(tokens=1_000, usd=0)
    sent = _sent(table, [Shard(table, number, 4, known) for number in range(4)], large, 120)
    assert 0.9 * 60_000 * 2 <= len(sent) * large.tokens <= 60_000 * 2


def test_shards_share_one_bound_on_calls_in_flight_and_a_dead_one_gives_its_places_back(table: Table) -> None:
    known = Given(rpm=None, tpm=None, in_flight=8, adaptive=False)
    one, other = (Shard(table, number, 2, known) for number in range(2))
    assert one.ask(*[CALL] * 5).granted == 5
    refused = other.ask(*[CALL] * 5)
    assert (refused.granted, refused.wait, refused.why) == (3, None, "calls in flight")
    table.clock.pass_(LEASE + 1)
    assert other.ask(*[CALL] * 10).granted == 5


def _seconds(table: Table, shards: Sequence[Shard], wants: Sequence[int], seconds: float) -> list[int]:
    """Let shards keep so many calls waiting, each of which lasts a second; return how many each sent.

    Those that want most visit most: at each landing, and else as often as a shard looks for a place.
    """
    sent, flying = [0] * len(shards), [list[float]() for _ in shards]
    due, end = [0.0] * len(shards), table.clock.now + seconds
    while table.clock.now < end:
        for index, shard in enumerate(shards):
            landed = [at for at in flying[index] if at <= table.clock.now]
            if not landed and due[index] > table.clock.now:
                continue
            for at in landed:
                flying[index].remove(at)
                shard.land(CALL, 0)
            granted = shard.ask(*[CALL] * min(wants[index] - shard.flight, 32)).granted
            flying[index] += [table.clock.now + 1.0] * granted
            sent[index] += granted
            due[index] = table.clock.now + POLL
        table.clock.pass_(0.01)
    return sent


@pytest.mark.parametrize(
    ("bound", "wants", "fair"),
    [(15, (60, 60, 60), (5, 5, 5)), (15, (60, 2, 60), (6.5, 2, 6.5)), (2, (60, 60, 60), (2 / 3,) * 3)],
)
def test_every_shard_that_asks_gets_its_fair_share_of_a_bound(
    table: Table, bound: int, wants: Sequence[int], fair: Sequence[float]
) -> None:
    known = Given(rpm=None, tpm=None, in_flight=bound, adaptive=False)
    shards = [Shard(table, number, 3, known) for number in range(3)]
    assert shards[0].ask(*[CALL] * bound).granted == bound  # the first to come has everything
    for _ in range(bound):
        shards[0].land(CALL, 0)
    sent = _seconds(table, shards, wants, 30)
    assert sent == pytest.approx([30 * each for each in fair], rel=0.12)


def test_a_dead_shards_share_of_a_bound_goes_to_the_others(table: Table) -> None:
    known = Given(rpm=None, tpm=None, in_flight=4, adaptive=False)
    one, other = (Shard(table, number, 2, known) for number in range(2))
    assert one.ask(*[CALL] * 4).granted == 4
    assert other.ask(*[CALL] * 4).granted == 0
    for _ in range(4):
        one.land(CALL, 0)
    assert one.ask(*[CALL] * 4).granted == 2
    table.clock.pass_(CLAIM + 0.1)
    assert one.ask(*[CALL] * 4).granted == 2


def test_a_shard_of_which_only_its_books_are_known_claims_no_place(table: Table) -> None:
    known = Given(rpm=None, tpm=None, in_flight=1, adaptive=False)
    one, other = (Shard(table, number, 2, known) for number in range(2))
    assert one.ask(CALL).granted == 1
    assert other.ask(CALL).granted == 0
    one.land(CALL, 0)
    one.visit(books=[Book("1", 5, replace=True)])
    assert one.ask(*[CALL] * 2).granted == 1


def test_one_push_back_pauses_every_shard_once(table: Table) -> None:
    known = Given(rpm=600, tpm=None, in_flight=64, adaptive=True)
    one, other = (Shard(table, number, 2, known) for number in range(2))
    told = SharedLimits(Limits(requests_per_minute=600))
    told.pushed_back(Fault(kind="rate_limit", message="slower", retry_after=7.0), fallback=2.0)
    events = told.take_events()
    assert [change.limit for change in one.ask(events=events).changes] == ["pause", "in_flight", "requests_per_minute"]
    assert other.ask(events=events).changes == []
    waits = other.ask(CALL)
    assert waits.wait == pytest.approx(7.0)
    assert waits.why == "rate_limit (server asked for 7.0 s)"


def test_after_a_pause_shards_do_not_come_back_in_step(table: Table) -> None:
    known = Given(rpm=None, tpm=None, in_flight=64, adaptive=False)
    shards = [Shard(table, number, 4, known) for number in range(4)]
    told = SharedLimits(Limits(in_flight=64))
    told.pushed_back(Fault(kind="rate_limit", message="slower", retry_after=7.0), fallback=2.0)
    shards[0].ask(events=told.take_events())
    table.clock.pass_(7.0)
    returns = _sent(table, shards, CALL, 1.1 * RETURN)
    first = returns[:64]
    assert len(set(first)) > 32
    assert RETURN / 3 < first[-1] - first[0] < 2 * RETURN
    assert len(returns) > 3 * 64  # and then as fast as they please


def test_a_visit_that_was_lost_or_whose_reply_was_leaves_nothing_that_the_next_one_does_not_mend(table: Table) -> None:
    known = Given(rpm=None, tpm=None, in_flight=4, adaptive=False)
    one, other = (Shard(table, number, 2, known) for number in range(2))
    one.visit(*[CALL] * 4)  # granted, and never heard of
    assert other.ask(CALL).granted == 0
    one.visit()
    assert other.ask(CALL).granted == 1


def test_a_process_whose_shard_another_one_works_on_is_told_so_and_changes_nothing(table: Table) -> None:
    old = Shard(table, given=FREE)
    assert old.ask(CALL).granted == 1
    new = Shard(table, given=FREE)
    assert not new.visit().fenced
    assert old.visit(CALL).fenced
    late = Shard(table, given=FREE, life=new.life, visits=-1)  # a visit that was under way for long
    assert late.visit(CALL).fenced
    assert not new.visit().fenced


_steps = st.one_of(
    st.tuples(st.just("pass"), st.floats(0.001, 90)),
    st.tuples(st.just("answer"), st.integers(1, 40)),
    st.tuples(st.just("pushed"), st.floats(0.1, 20)),
    st.tuples(st.just("hint"), st.integers(60, 900)),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(adaptive=st.booleans(), rpm=st.sampled_from([None, 240.0]), steps=st.lists(_steps, max_size=25))
def test_limits_in_redis_learn_what_limits_in_the_process_do(
    table: Table, adaptive: bool, rpm: float | None, steps: list[tuple[str, float]]
) -> None:
    table.forget()
    limits = Limits(requests_per_minute=rpm, in_flight=100, adaptive=adaptive)
    own, shared = AccountLimits(limits, table.clock, lambda change: None), SharedLimits(limits)
    shard = Shard(table, given=shared.given)
    shard.visit()
    for kind, amount in steps:
        match kind:
            case "pass":
                table.clock.pass_(amount)
            case "answer":
                for _ in range(int(amount)):
                    own.answered()
                    shared.answered()
            case "pushed":
                fault = Fault(kind="overloaded", message="busy", retry_after=amount)
                own.pushed_back(fault, 1.0)
                shared.pushed_back(fault, 1.0)
            case _:
                hint = LimitHint(resource="requests", limit=int(amount))
                own.hinted([hint])
                shared.hinted([hint])
        learnt = shard.visit(CALL, events=shared.take_events()).accounts[0]
        assert (learnt.bound, learnt.per_minute) == (own.bound, pytest.approx(own.per_minute))
        pause = own.paused_until - table.clock.now
        if pause > 1e-3:
            assert learnt.wait
            assert learnt.wait >= pause - 1e-6
        else:
            assert learnt.why in ("", "requests per minute")

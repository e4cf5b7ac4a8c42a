"""One cap over all shards, whatever dies and whatever is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from turntide.adapters.base import ConfigurationError
from turntide.engine.shards.commons import LEASE, Ask, Book, at_most, cap_of

from ...support.commons import Shard, Table

pytestmark = pytest.mark.real("redis")

CAP = 1_000
SHARDS = 3


@pytest.fixture
def table(redis_url: str) -> Iterator[Table]:
    table = Table(redis_url)
    yield table
    table.close()


def _shards(table: Table, count: int = 2) -> list[Shard]:
    shards = [Shard(table, number, count, cap=CAP) for number in range(count)]
    for shard in shards:
        shard.visit()
    return shards


def test_a_call_that_does_not_fit_waits_while_any_shard_may_get_money_back_and_else_ends_the_run(table: Table) -> None:
    one, other = _shards(table)
    held = Ask(tokens=1, usd=700)
    assert one.ask(held).granted == 1
    waits = other.ask(Ask(tokens=1, usd=400))
    assert (waits.granted, waits.broke, waits.why) == (0, False, "money in flight to come back")
    one.land(held, 50)
    one.visit()
    assert other.ask(Ask(tokens=1, usd=400)).granted == 1
    other.land(Ask(tokens=1, usd=400), 400)
    assert other.ask(Ask(tokens=1, usd=600)).broke


def test_what_a_dead_shard_held_stays_exposed_until_its_journal_says_what_became_of_it(table: Table) -> None:
    dead, other = _shards(table)
    assert dead.ask(Ask(tokens=1, usd=700)).granted == 1
    table.clock.pass_(LEASE + 1)
    assert other.ask(Ask(tokens=1, usd=400)).broke  # not waited for: nobody is there who could give it back
    resumed = Shard(table, dead.number, 2, cap=CAP, spent=20)
    resumed.visit()
    assert other.ask(Ask(tokens=1, usd=400)).granted == 1


def test_nothing_is_granted_under_a_cap_before_every_shard_has_said_what_it_spent(table: Table) -> None:
    one = Shard(table, 0, 2, cap=CAP)
    refused = one.ask(Ask(tokens=1, usd=1))
    assert (refused.granted, refused.broke) == (0, False)
    one.visit(books=[Book("1", 999)])
    assert one.ask(*[Ask(tokens=1, usd=1)] * 2).granted == 1


def test_amounts_are_rounded_against_the_spender_and_a_cap_that_redis_cannot_hold_is_refused() -> None:
    assert (at_most(Decimal("0.0000000001")), cap_of("0.0000000019"), cap_of(None)) == (1, 1, None)
    with pytest.raises(ConfigurationError, match="at most"):
        cap_of("10000000")


class Spending(RuleBasedStateMachine):
    """Shards that ask, land, die and come back, over a Redis that may forget everything. A journal never forgets: here,
    what a shard has spent and holds."""

    table: Table

    @initialize()
    def begin(self) -> None:
        self.table.forget()
        self.shards = [Shard(self.table, number, SHARDS, cap=CAP) for number in range(SHARDS)]
        self.out: list[tuple[Shard, Ask]] = []

    @rule(number=st.integers(0, SHARDS - 1), usd=st.lists(st.integers(1, 600), min_size=1, max_size=4))
    def ask(self, number: int, usd: list[int]) -> None:
        shard, asks = self.shards[number], [Ask(tokens=1, usd=each) for each in usd]
        self.out += [(shard, ask) for ask in asks[: shard.ask(*asks).granted]]

    @precondition(lambda self: self.out)
    @rule(which=st.integers(0), share=st.one_of(st.none(), st.floats(0, 1)))
    def land(self, which: int, share: float | None) -> None:
        shard, ask = self.out.pop(which % len(self.out))
        shard.land(ask, None if share is None else int(ask.usd * share))

    @rule(number=st.integers(0, SHARDS - 1))
    def lose_a_reply(self, number: int) -> None:
        self.shards[number].visit(Ask(tokens=1, usd=300))

    @rule(number=st.integers(0, SHARDS - 1))
    def die_and_come_back(self, number: int) -> None:
        dead = self.shards[number]
        for shard, ask in [each for each in self.out if each[0] is dead]:
            shard.land(ask, None)
        self.out = [each for each in self.out if each[0] is not dead]
        self.shards[number] = Shard(self.table, number, SHARDS, cap=CAP, spent=dead.spent)

    @rule(seconds=st.floats(0.1, 2 * LEASE))
    def wait(self, seconds: float) -> None:
        self.table.clock.pass_(seconds)

    @rule()
    def forget(self) -> None:
        self.table.forget()

    @invariant()
    def the_cap_holds(self) -> None:
        assert sum(shard.spent + shard.held for shard in getattr(self, "shards", [])) <= CAP


def test_the_cap_holds_through_deaths_lost_replies_and_a_redis_that_forgets(table: Table) -> None:
    Spending.table = table
    run_state_machine_as_test(  # pyright: ignore[reportUnknownMemberType]
        Spending,
        settings=settings(
            max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )

"""Of whom it is said that he was not heard of."""

from __future__ import annotations

from turntide.engine.shards.roll import SILENCE, Roll, silent

AT_WORK = {0, 1}


def test_a_shard_is_silent_a_while_after_it_was_heard_of_and_not_while_it_starts_or_when_it_has_ended() -> None:
    roll = Roll()
    assert roll.called(0, [("0", 9_000)], AT_WORK) == []  # an earlier run's visit
    assert roll.called(10, [("0", 9_010), ("1", 1)], AT_WORK) == []
    later = 10 + SILENCE
    assert roll.called(later, [("0", 9_000 + later), ("1", later - 9)], AT_WORK) == [1]
    assert roll.called(later, [("1", later - 9)], {0}) == []
    assert roll.called(later + 1, [("1", 0.5)], AT_WORK) == []
    assert silent([]) == ""
    assert silent([1, 3]).startswith("shard-1, shard-3: not heard of")


def test_nobody_is_silent_for_as_long_as_redis_was_and_a_redis_that_forgot_hides_nobody() -> None:
    roll = Roll()
    roll.called(0, [], AT_WORK)
    roll.called(10, [("0", 0), ("1", 0)], AT_WORK)
    roll.deaf()
    assert roll.called(200, [("0", 190), ("1", 190)], AT_WORK) == []
    assert roll.called(201 + SILENCE, [("0", 1)], AT_WORK) == [1]

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.datasets.draw import Draw


def test_the_sequence_is_the_same_on_every_python() -> None:
    draw = Draw("turntide", 7)
    assert [draw.below(1_000) for _ in range(6)] == [466, 699, 212, 745, 518, 642]
    assert draw.shuffled("abcdef") == [*"cfbead"]


def test_other_seeds_give_another_stream() -> None:
    assert [Draw("a", 1).below(10**9), Draw("a", 11).below(10**9)] != [Draw("a1", 1).below(10**9)] * 2
    assert Draw("a", 1).below(10**9) != Draw("a1").below(10**9)


@settings(deadline=None)
@given(st.integers(), st.integers(1, 10**9))
def test_draws_stay_within_their_bounds(seed: int, bound: int) -> None:
    draw = Draw(seed)
    assert 0 <= draw.below(bound) < bound
    assert -3 <= draw.between(-3, bound) <= bound


@settings(deadline=None)
@given(st.integers(), st.lists(st.integers()))
def test_shuffling_keeps_every_item(seed: int, items: list[int]) -> None:
    assert sorted(Draw(seed).shuffled(items)) == sorted(items)

"""What must hold for all data."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.results import statistics as ours

IntervalMethod = Callable[..., ours.Interval]
Turns = list[tuple[bool, bool, int]]


def chosen(k: int, n: int, *, level: float) -> ours.Interval:
    return ours.proportion(k, n, level=level).interval


levels = st.sampled_from([0.5, 0.8, 0.95, 0.99])
counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
intervals = pytest.mark.parametrize("method", [ours.wilson, ours.clopper_pearson, chosen])
turns = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 6)), min_size=1, max_size=40)
quick = settings(max_examples=30, deadline=None)


@intervals
@quick
@given(count=counts, level=levels)
def test_an_interval_contains_its_estimate_and_stays_in_range(
    method: IntervalMethod, count: tuple[int, int], level: float
) -> None:
    k, n = count
    interval = method(k, n, level=level)
    assert 0 <= interval.low <= k / n <= interval.high <= 1


@intervals
@quick
@given(count=counts, level=levels)
def test_swapping_successes_and_failures_mirrors_the_interval(
    method: IntervalMethod, count: tuple[int, int], level: float
) -> None:
    k, n = count
    interval, mirrored = method(k, n, level=level), method(n - k, n, level=level)
    assert (interval.low, interval.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-12)


@intervals
@quick
@given(count=counts, level=levels)
def test_twice_the_data_at_the_same_share_gives_a_shorter_interval(
    method: IntervalMethod, count: tuple[int, int], level: float
) -> None:
    k, n = count
    assert method(2 * k, 2 * n, level=level).width < method(k, n, level=level).width


@quick
@given(count=counts)
def test_the_exact_interval_holds_wilsons_role_only_when_events_are_few(count: tuple[int, int]) -> None:
    k, n = count
    expected = ours.clopper_pearson(k, n) if min(k, n - k) < 5 else ours.wilson(k, n)
    assert ours.proportion(k, n).interval == expected


@quick
@given(rows=turns, seed=st.integers(0, 3), data=st.data())
def test_neither_order_nor_labels_leave_a_trace(rows: Turns, seed: int, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    renamed = data.draw(st.permutations([f"s{index}" for index in range(7)]))

    def results(turns: Turns, name: Callable[[int], object]) -> list[object]:
        a, b, clusters = [t[0] for t in turns], [t[1] for t in turns], [name(t[2]) for t in turns]
        weights = [0.1 + x + 0.3 * y for x, y in zip(a, b, strict=True)]
        return [
            ours.clustered_proportion(a, clusters),
            ours.mean(weights, clusters),
            ours.bootstrap_ratio(weights, np.ones(len(a)), clusters, resamples=50, seed=seed),
            ours.paired_proportions(a, b, clusters),
            ours.paired_bootstrap(a, b, clusters, resamples=50, seed=seed),
            ours.joint_against_parts([a, b], weights, clusters, resamples=50, seed=seed),
        ]

    assert repr(results(rows, lambda label: label)) == repr(results(shuffled, lambda label: renamed[label]))


@quick
@given(rows=turns, level=levels)
def test_clustered_intervals_contain_their_estimates(rows: Turns, level: float) -> None:
    a, b, clusters = [t[0] for t in rows], [t[1] for t in rows], [t[2] for t in rows]
    share = ours.clustered_proportion(a, clusters, level=level)
    assert 0 <= share.interval.low <= share.value <= share.interval.high <= 1
    difference = ours.paired_proportions(a, b, clusters, level=level).difference
    assert -1 <= difference.interval.low <= difference.value <= difference.interval.high <= 1
    assert share.interval.width > 0
    assert difference.interval.width > 0


@quick
@given(rows=turns)
def test_one_stratum_is_no_stratum(rows: Turns) -> None:
    values, clusters = [t[0] for t in rows], [t[2] for t in rows]
    one, plain = ours.strata_mean(values, clusters, ["all"] * len(rows)), ours.mean(values, clusters)
    assert (one.value, one.se) == pytest.approx((plain.value, plain.se))


@quick
@given(rows=turns)
def test_swapping_the_systems_mirrors_the_comparison(rows: Turns) -> None:
    a, b, clusters = [t[0] for t in rows], [t[1] for t in rows], [t[2] for t in rows]
    for method in (ours.paired_proportions, ours.paired_means):
        one, other = method(a, b, clusters), method(b, a, clusters)
        assert one.p == pytest.approx(other.p)
        assert one.difference.value == pytest.approx(-other.difference.value)
        assert one.difference.interval.low == pytest.approx(-other.difference.interval.high)


@quick
@given(only_a=st.integers(0, 30), only_b=st.integers(0, 30), equal=st.integers(0, 30))
def test_sign_flips_of_single_pairs_are_mcnemars_exact_test(only_a: int, only_b: int, equal: int) -> None:
    differences = [1] * only_a + [-1] * only_b + [0] * equal
    expected = ours.mcnemar(only_a, only_b, len(differences)).p
    assert ours.sign_flip(differences, range(len(differences))) == pytest.approx(expected)


@quick
@given(differences=st.lists(st.integers(-5, 5), min_size=17, max_size=40))
def test_the_exact_distribution_agrees_with_drawn_sign_flips(differences: list[int]) -> None:
    exact = ours.sign_flip(differences, range(len(differences)))
    drawn = ours.sign_flip([d * math.pi for d in differences], range(len(differences)), resamples=4_000)
    assert drawn == pytest.approx(exact, abs=5 * math.sqrt(0.25 / 4_000))


@quick
@given(p_values=st.lists(st.floats(0, 1), max_size=12), data=st.data())
def test_holm_lies_between_the_raw_and_bonferronis_and_keeps_their_order(
    p_values: list[float], data: st.DataObject
) -> None:
    adjusted = ours.holm(p_values)
    for raw, holm, bonferroni in zip(p_values, adjusted, ours.bonferroni(p_values), strict=True):
        assert raw <= holm <= bonferroni
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [holm for _, holm in pairs] == sorted(adjusted)
    shuffled = data.draw(st.permutations(range(len(p_values))))
    assert ours.holm([p_values[i] for i in shuffled]) == tuple(adjusted[i] for i in shuffled)


@quick
@given(n=st.integers(10, 3_000), share=st.floats(0.01, 0.9))
def test_more_data_detect_smaller_differences(n: int, share: float) -> None:
    for detectable in (ours.detectable_paired(n, share), ours.detectable_paired(2 * n, share, design_effect=2)):
        assert detectable >= ours.detectable_paired(2 * n, share)
    assert ours.detectable_unpaired(n, n, share) >= ours.detectable_unpaired(2 * n, 2 * n, share)


@quick
@given(
    st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3), min_size=2, max_size=8),
    st.permutations(range(3)),
)
def test_components_do_not_depend_on_the_order_of_runs_and_are_never_negative(
    table: list[list[float]], order: list[int]
) -> None:
    shuffled = [[row[index] for index in order] for row in table]
    for split in (ours.one_way, ours.two_way):
        one, other = split(table), split(shuffled)
        assert min(one.item, one.run, one.residual) >= 0
        assert (one.item, one.run, one.residual) == pytest.approx((other.item, other.run, other.residual), abs=1e-9)
        assert one.se >= one.se_rerun


@quick
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_strict_never_exceeds_majority_and_kappa_never_exceeds_one(votes: list[int]) -> None:
    verdicts = [[True] * yes + [False] * (5 - yes) for yes in votes]
    assert ours.strict_acceptance(verdicts).value <= ours.majority_acceptance(verdicts).value
    kappa = ours.fleiss_kappa(ours.verdict_counts(verdicts), resamples=50).value
    assert math.isnan(kappa) or kappa <= 1 + 1e-12


@quick
@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.data())
def test_whatever_the_missing_come_to_lies_within_the_bounds(
    successes: int, failures: int, missing: int, data: st.DataObject
) -> None:
    scored, planned = successes + failures, successes + failures + missing
    bounds = ours.rate_bounds(successes, scored, planned)
    later = data.draw(st.integers(0, missing))
    assert planned == 0 or bounds.worst <= (successes + later) / planned <= bounds.best

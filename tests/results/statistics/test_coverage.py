"""Nominal coverage, counted in simulations with fixed seeds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from turntide.results import statistics as ours

from .conftest import Clustered

RUNS = 600
MARGIN = 3 * math.sqrt(0.95 * 0.05 / RUNS)
"""Three standard errors of a coverage of 0.95 that is counted in RUNS simulations."""


def chosen(k: int, n: int) -> ours.Interval:
    return ours.proportion(k, n).interval


def exact_coverage(method: Callable[[int, int], ours.Interval], n: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(interval contains p) for each p, summed over all k: no simulation."""
    coverage = np.zeros_like(p)
    for k in range(n + 1):
        interval = method(k, n)
        chance = math.comb(n, k) * p**k * (1 - p) ** (n - k)
        coverage += np.where((interval.low <= p) & (p <= interval.high), chance, 0)
    return coverage


@pytest.mark.parametrize("n", [5, 20, 60, 150])
def test_the_choice_of_interval_mends_wilsons_gaps_and_keeps_the_level_on_average(n: int) -> None:
    p = np.linspace(0.0005, 0.9995, 2_000)
    wilson, mended = exact_coverage(ours.wilson, n, p), exact_coverage(chosen, n, p)
    assert wilson.min() < 0.87
    assert mended.min() > 0.92
    assert mended.mean() >= 0.95


@pytest.mark.parametrize(("groups", "rate"), [(40, 0.8), (100, 0.5), (40, 0.93)])
def test_clustered_intervals_cover_and_naive_ones_do_not(clustered: Clustered, groups: int, rate: float) -> None:
    rng = np.random.default_rng(1)
    naive = robust = 0
    for _ in range(RUNS):
        successes, labels = clustered(rng, groups, rate, 0.3)
        naive += rate in ours.wilson(int(successes.sum()), len(successes))
        robust += rate in ours.clustered_proportion(successes, labels).interval
    assert naive / RUNS < 0.80
    assert 0.95 - MARGIN - 0.02 <= robust / RUNS <= 0.95 + MARGIN


def test_intervals_of_a_mean_of_any_quantity_cover() -> None:
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(60), 5)
    robust = drawn = 0
    for _ in range(RUNS):
        values = rng.normal(10, 1, 300) + rng.normal(0, 1, 60)[labels]
        robust += 10 in ours.mean(values, labels).interval
        drawn += 10 in ours.bootstrap_mean(values, labels, resamples=500).interval
    assert abs(robust / RUNS - 0.95) <= MARGIN
    assert abs(drawn / RUNS - 0.95) <= MARGIN + 0.01


def test_intervals_of_a_mean_over_strata_cover_the_plain_mean_of_theirs() -> None:
    rng = np.random.default_rng(8)
    strata = np.repeat([0, 1, 2], [200, 80, 40])
    labels = np.arange(320) // 4
    covered = 0
    for _ in range(RUNS):
        values = strata + rng.normal(0, 1, 80)[labels] + rng.normal(0, 1, 320)
        covered += 1 in ours.strata_mean(values, labels, strata.tolist()).interval
    assert abs(covered / RUNS - 0.95) <= MARGIN + 0.01


def test_paired_intervals_cover_and_their_tests_reject_at_most_at_their_level(clustered: Clustered) -> None:
    rng = np.random.default_rng(3)
    covered = robust = rejected = 0
    for _ in range(RUNS):
        a, labels = clustered(rng, 40, 0.6, 0.3)
        b = np.where(rng.random(len(a)) < 0.7, a, rng.random(len(a)) < 0.6)
        comparison = ours.paired_proportions(a, b, labels)
        covered += 0 in comparison.difference.interval
        robust += 0 in ours.paired_means(a, b, labels).difference.interval
        rejected += comparison.p <= 0.05
    assert covered / RUNS >= 0.95 - MARGIN
    assert abs(robust / RUNS - 0.95) <= MARGIN + 0.01
    assert rejected / RUNS <= 0.05 + MARGIN


def test_mcnemar_on_clustered_pairs_rejects_too_often_and_sign_flips_do_not() -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(40), 8)
    naive = flipped = 0
    for _ in range(RUNS):
        lean = rng.choice([0.1, 0.9], 40)[labels]  # which system a session suits; neither is better overall
        differences = np.where(rng.random(320) < 0.4, np.where(rng.random(320) < lean, 1, -1), 0)
        naive += ours.mcnemar(int((differences > 0).sum()), int((differences < 0).sum()), 320).p <= 0.05
        flipped += ours.sign_flip(differences, labels) <= 0.05
    assert naive / RUNS > 0.10
    assert flipped / RUNS <= 0.05 + MARGIN


def test_the_excess_over_independence_covers_zero_when_parts_are_independent() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(RUNS // 2):
        chain, drift, joint = (rng.random(200) < rate for rate in (0.4, 0.5, 0.2))
        covered += 0 in ours.joint_against_parts([chain, drift], joint, range(200), resamples=500).excess.interval
    assert covered / (RUNS // 2) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / (RUNS // 2)) - 0.01


def test_components_of_variance_are_recovered() -> None:
    rng = np.random.default_rng(6)
    splits = [
        ours.two_way(rng.normal(0, 2, (60, 1)) + rng.normal(0, 1, (1, 6)) + rng.normal(0, 3, (60, 6)))
        for _ in range(RUNS)
    ]
    mean = [float(np.mean([getattr(split, part) for split in splits])) for part in ("item", "run", "residual")]
    assert mean == pytest.approx([4, 1, 9], rel=0.06)
    spread = float(np.std([split.mean for split in splits]))
    assert spread == pytest.approx(float(np.mean([split.se for split in splits])), rel=0.15)

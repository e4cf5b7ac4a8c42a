"""Where data end: nothing observed, one cluster, no variance, impossible input, and what the library may import."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import turntide.results.statistics as ours
from turntide.results.statistics import bootstrap as bootstrap_module

PACKAGE = Path(ours.__file__ or "").parent


def imported(path: Path) -> set[str]:
    """Names of the modules that a source file imports; a relative one keeps its dots."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or "").split(".")[0])
    return names


def test_the_library_imports_only_itself_numpy_and_the_standard_library() -> None:
    for path in PACKAGE.glob("*.py"):
        for name in imported(path):
            inside = name.startswith(".") and not name.startswith("..")
            assert inside or name == "numpy" or name in sys.stdlib_module_names, (path.name, name)


def test_a_kappa_that_rests_on_one_sample_has_the_percentile_interval_which_ends_at_it() -> None:
    counts = [[0, 5], [0, 5], [4, 1], [0, 5]]
    found = ours.fleiss_kappa(counts)
    # Of four samples that one is drawn once, twice or three times, unless it is not and there is no κ.
    twice, thrice = ours.fleiss_kappa([*counts[1:], counts[2]]), ours.fleiss_kappa([counts[2]] * 3 + [counts[0]])
    assert found.value == found.interval.high
    assert found.interval.low in (pytest.approx(twice.value), pytest.approx(thrice.value))


def test_nothing_observed_is_nan_with_the_whole_range() -> None:
    for share in (ours.proportion(0, 0), ours.clustered_proportion([], []), ours.majority_acceptance([])):
        assert math.isnan(share.value)
        assert (share.n, share.interval) == (0, ours.Interval(0.0, 1.0, 0.95))
    for estimate in (
        ours.mean([], []),
        ours.ratio([], [], []),
        ours.ratio([1, 2], [0, 0], "ab"),
        ours.difference([], [], [1], "a"),
        ours.bootstrap_mean([], []),
        ours.fleiss_kappa([]),
        ours.cohen_kappa([], []),
        ours.joint_against_parts([[], []], [], []).excess,
    ):
        assert math.isnan(estimate.value)
        assert (estimate.interval.low, estimate.interval.high) == (-math.inf, math.inf)
    for comparison in (ours.mcnemar(0, 0, 0), ours.paired_proportions([], [], []), ours.paired_means([], [], [])):
        assert math.isnan(comparison.difference.value)
        assert comparison.p == 1
    assert ours.paired_bootstrap([], [], []).p == 1
    assert math.isnan(ours.design_effect([], []))
    assert ours.rate_bounds(0, 0, 0) == ours.Bounds(0.0, 1.0)
    assert ours.holm([]) == ()


def test_a_single_cluster_says_nothing_about_error() -> None:
    values, clusters = [1, 0, 1, 1], ["only"] * 4
    assert ours.mean(values, clusters).se == math.inf
    assert ours.clustered_proportion(values, clusters).interval == ours.Interval(0.0, 1.0, 0.95)
    assert ours.bootstrap_mean(values, clusters).interval.width == math.inf
    comparison = ours.paired_proportions(values, [0, 0, 0, 0], clusters)
    assert (comparison.difference.interval.low, comparison.difference.interval.high, comparison.p) == (-1, 1, 1)
    assert ours.detectable_from_error(0.1, 1) == math.inf


def test_all_alike_counts_each_cluster_as_one_observation() -> None:
    clusters = np.repeat(np.arange(30), 10)
    none = ours.clustered_proportion(np.zeros(300), clusters)
    alone = ours.clustered_proportion(np.zeros(30), range(30))
    assert none.interval == alone.interval
    assert none.interval.high > 0.1
    assert ours.design_effect(np.zeros(300), clusters) == 10
    equal = ours.paired_proportions(np.ones(300), np.ones(300), clusters)
    assert (equal.difference.value, equal.p) == (0, 1)
    assert equal.difference.interval.width > 0.1


def test_clusters_that_agree_within_widen_and_clusters_that_cancel_do_not_narrow() -> None:
    clusters = np.repeat(np.arange(20), 2)
    alike, opposed = np.repeat([0.0, 1.0], 20), np.tile([0.0, 1.0], 20)
    assert ours.design_effect(alike, clusters) == pytest.approx(2, rel=0.06)
    assert ours.design_effect(opposed, clusters) == 0
    independent = ours.clustered_proportion(opposed, range(40)).interval.width
    assert ours.clustered_proportion(opposed, clusters).interval.width >= independent


def test_undefined_kappa_is_nan_and_never_an_error() -> None:
    assert math.isnan(ours.fleiss_kappa([[0, 5], [0, 5]]).value)
    assert math.isnan(ours.cohen_kappa("aaa", "aaa").value)


def test_kappa_of_triplets_draws_triplets() -> None:
    counts = [[1, 4], [1, 4], [1, 4], [5, 0], [5, 0], [5, 0]] * 8
    triplets = [index // 3 for index in range(len(counts))]
    assert ours.fleiss_kappa(counts, triplets).clusters == 16
    assert ours.fleiss_kappa(counts, triplets).se > ours.fleiss_kappa(counts).se


def test_a_checklist_passes_only_with_every_applicable_item() -> None:
    answers = [[[True, True], [True, False]], [[True], [True]]]
    verdicts = ours.sample_verdicts(answers)
    assert verdicts == [[True, False], [True, True]]
    assert ours.verdict_counts(verdicts) == [(1, 1), (0, 2)]
    assert ours.majority_acceptance(verdicts).value == 0.5  # a tie rejects


def test_independence_splits_the_excess_into_shared_difficulty_and_the_rest() -> None:
    easy, hard = [1.0] * 50, [0.0] * 50
    result = ours.joint_against_parts([easy + hard, easy + hard], easy + hard, range(100))
    assert (result.joint.value, result.product.value, result.excess.value) == (0.5, 0.25, 0.25)
    assert (result.shared.value, result.added.value) == (0.25, 0)
    assert result.excess.interval.low > 0


def test_unequal_repeats_are_weighted_and_equal_ones_give_the_balanced_split() -> None:
    scores = [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]
    split = ours.one_way(scores)
    means = np.mean(scores, axis=1)
    within = float(np.mean([np.var(row, ddof=1) for row in scores]))
    assert split.residual == pytest.approx(within)
    assert split.item == pytest.approx(float(np.var(means, ddof=1)) - within / 3)
    assert split.se == pytest.approx(float(np.std(means, ddof=1)) / 2)
    ragged = ours.one_way([*scores, [1.0]])
    assert ragged.items == 5
    assert 2 < ragged.repeats < 3


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    values, clusters = np.random.default_rng(0).normal(size=90), np.repeat(np.arange(30), 3)
    one, again, other = (ours.bootstrap_mean(values, clusters, seed=seed) for seed in (7, 7, 8))
    assert repr(one) == repr(again) != repr(other)


def test_the_stream_of_draws_is_pinned_and_does_not_depend_on_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(bootstrap_module.draws(100, 7, 3, seed=1)))
    assert whole[:2].tolist() == PINNED
    monkeypatch.setattr(bootstrap_module, "_CHUNK", 6)
    assert np.concatenate(list(bootstrap_module.draws(100, 7, 3, seed=1))).tolist() == whole.tolist()


PINNED = [[51, 95, 14], [94, 31, 42]]
"""From PCG64(1); if NumPy ever changes it, published intervals change with it."""


def test_nothing_can_be_detected_where_no_difference_is_possible() -> None:
    assert ours.detectable_paired(100, 0.0) == math.inf
    assert ours.detectable_paired(5, 0.01) == math.inf
    assert ours.detectable_unpaired(100, 100, 1.0) == math.inf
    assert ours.detectable_unpaired(0, 100, 0.5) == math.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: ours.proportion(3, 2),
        lambda: ours.wilson(-1, 2),
        lambda: ours.wilson(1, 2, level=1.0),
        lambda: ours.clopper_pearson(0, 0, level=0.0),
        lambda: ours.mean([1.0, math.nan], "ab"),
        lambda: ours.mean([1.0, 2.0], "a"),
        lambda: ours.clustered_proportion([2.0], "a"),
        lambda: ours.paired_proportions([0.5], [1.0], "a"),
        lambda: ours.paired_means([1.0], [1.0, 2.0], "a"),
        lambda: ours.mcnemar(3, 3, 5),
        lambda: ours.holm([0.1, math.nan]),
        lambda: ours.bonferroni([1.5]),
        lambda: ours.rate_bounds(1, 0, 5),
        lambda: ours.one_way([[1.0], [2.0]]),
        lambda: ours.two_way([[1.0, math.nan], [0.0, 1.0]]),
        lambda: ours.fleiss_kappa([[3, 2], [1, 2]]),
        lambda: ours.cohen_kappa("ab", "a"),
        lambda: ours.sample_verdicts([[[True], []]]),
        lambda: ours.joint_against_parts([[1.0]], [1.0], "a"),
        lambda: ours.detectable_paired(100, 0.1, power=0.4),
        lambda: ours.detectable_unpaired(100, 100, 0.1, design_effect=0.0),
    ],
)
def test_impossible_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call()

"""Our numbers against scipy's and statsmodels', over grids."""

# scipy and statsmodels ship no types for what is used here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats import inter_rater, multitest, proportion
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from turntide.results import statistics as ours
from turntide.results.statistics import distributions

LEVELS = (0.5, 0.9, 0.95, 0.99)
COUNTS = [(k, n) for n in (1, 2, 7, 30, 400) for k in sorted({0, 1, n // 3, n - 1, n})]


def clustered_values(seed: int, groups: int = 25) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(groups), rng.integers(1, 9, groups))
    return rng.normal(size=len(labels)) + rng.normal(size=groups)[labels], labels


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("k", "n"), COUNTS)
def test_wilson_and_exact_intervals_equal_statsmodels(k: int, n: int, level: float) -> None:
    for interval, method in (
        (ours.wilson(k, n, level=level), "wilson"),
        (ours.clopper_pearson(k, n, level=level), "beta"),
    ):
        expected = proportion.proportion_confint(k, n, alpha=1 - level, method=method)
        assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-10)


def test_beta_distribution_equals_scipy_over_five_orders_of_magnitude() -> None:
    rng = np.random.default_rng(0)
    for a, b in 10 ** rng.uniform(-0.3, 4, (200, 2)):
        x, q = rng.beta(a, b), rng.uniform(0.001, 0.999)
        assert distributions.beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-10)
        if a + b < 2_000:
            assert distributions.beta_quantile(q, a, b) == pytest.approx(special.betaincinv(a, b, q), rel=1e-9)


@pytest.mark.parametrize("df", [1, 2, 3, 9, 40, 299, 20_000])
def test_student_quantiles_equal_scipy(df: int) -> None:
    for level in (0.01, *LEVELS, 0.999_999_9):
        expected = stats.t.ppf((1 + level) / 2, df)
        assert distributions.student_critical(level, df) == pytest.approx(expected, rel=1e-8)


def test_binomial_tails_equal_scipy() -> None:
    for k, n in COUNTS:
        for p in (0.01, 0.5, 0.8):
            assert distributions.binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_error_of_a_mean_is_the_clustered_one_of_a_regression_on_a_constant(seed: int) -> None:
    values, labels = clustered_values(seed)
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": labels}, use_t=True)
    estimate = ours.mean(values, labels)
    assert (estimate.value, estimate.se) == pytest.approx((fit.params[0], fit.bse[0]))
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx(tuple(fit.conf_int()[0]))


@pytest.mark.parametrize("seed", range(4))
def test_the_error_of_a_difference_is_the_clustered_one_of_a_regression_on_an_indicator(seed: int) -> None:
    values, labels = clustered_values(seed)
    on_a = np.random.default_rng(seed).random(len(values)) < 0.4
    design = np.column_stack([np.ones(len(values)), on_a])
    fit = OLS(values, design).fit(cov_type="cluster", cov_kwds={"groups": labels}, use_t=True)
    estimate = ours.difference(values[on_a], labels[on_a], values[~on_a], labels[~on_a])
    assert (estimate.value, estimate.se) == pytest.approx((fit.params[1], fit.bse[1]))
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx(tuple(fit.conf_int()[1]))


def test_single_observations_as_clusters_give_the_plain_t_interval() -> None:
    values, _ = clustered_values(7)
    expected = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
    interval = ours.mean(values, range(len(values)), level=0.9).interval
    assert (interval.low, interval.high) == pytest.approx(expected)
    assert ours.design_effect(values, range(len(values))) == pytest.approx(1)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_agree_with_scipy_within_their_simulation_error(method: str) -> None:
    values = np.random.default_rng(3).lognormal(size=40)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method=method, rng=np.random.default_rng(0), vectorized=True
    )
    estimate = ours.bootstrap_mean(
        values, range(40), resamples=20_000, method="bca" if method == "bca" else "percentile"
    )
    limits = expected.confidence_interval
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((limits.low, limits.high), rel=0.02)
    assert estimate.se == pytest.approx(expected.standard_error, rel=0.02)


@pytest.mark.parametrize(("n", "seed"), [(12, 0), (30, 1)])
def test_the_interval_of_a_kappa_agrees_with_scipys_bca_where_few_were_asked(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    accepts = rng.binomial(5, rng.choice([0.2, 0.8], n))
    table = np.stack([5 - accepts, accepts], axis=1)

    def kappa(drawn: np.ndarray) -> float:
        return inter_rater.fleiss_kappa(table[drawn])

    expected = stats.bootstrap(
        (np.arange(n),), kappa, vectorized=False, n_resamples=2_000, method="BCa", rng=np.random.default_rng(0)
    )
    limits = expected.confidence_interval
    interval = ours.fleiss_kappa(table).interval
    assert (interval.low, interval.high) == pytest.approx((limits.low, limits.high), abs=0.04)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (0, 5), (3, 9), (12, 12), (40, 61), (700, 810)])
def test_mcnemar_equals_statsmodels(only_a: int, only_b: int) -> None:
    expected = reference_mcnemar([[10, only_a], [only_b, 10]], exact=True)
    assert ours.mcnemar(only_a, only_b, 2_000).p == pytest.approx(expected.pvalue, rel=1e-8)


def test_sign_flips_equal_scipys_exact_permutation_test() -> None:
    sums = np.array([1.5, -0.25, 3.0, 2.25, 0.5, -1.0, 4.0, 0.75])
    expected = stats.permutation_test((sums,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert ours.sign_flip(sums, range(len(sums))) == pytest.approx(expected.pvalue)


def test_holm_and_bonferroni_equal_statsmodels() -> None:
    for seed in range(20):
        p = np.random.default_rng(seed).beta(0.3, 1, 12).round(3)
        assert ours.holm(p.tolist()) == pytest.approx(multitest.multipletests(p, method="holm")[1])
        assert ours.bonferroni(p.tolist()) == pytest.approx(multitest.multipletests(p, method="bonferroni")[1])


@pytest.mark.parametrize("base", [0.05, 0.3, 0.5, 0.8])
@pytest.mark.parametrize(("n_a", "n_b"), [(200, 200), (300, 900)])
def test_a_detectable_unpaired_difference_has_the_power_it_was_asked_for(base: float, n_a: int, n_b: int) -> None:
    delta = ours.detectable_unpaired(n_a, n_b, base, power=0.8)
    power = proportion.power_proportions_2indep(-delta, base + delta, n_a, ratio=n_b / n_a).power
    assert power == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize("discordance", [0.02, 0.1, 0.4])
def test_a_detectable_paired_difference_inverts_connors_sample_size(discordance: float) -> None:
    delta = ours.detectable_paired(1_400, discordance, power=0.9)
    z_alpha, z_beta = stats.norm.ppf(0.975), stats.norm.ppf(0.9)
    size = (z_alpha * math.sqrt(discordance) + z_beta * math.sqrt(discordance - delta**2)) ** 2 / delta**2
    assert size == pytest.approx(1_400)
    assert ours.detectable_paired(2_800, discordance, power=0.9, design_effect=2) == pytest.approx(delta)


def test_a_detectable_difference_from_an_error_is_blooms_multiple() -> None:
    multiple = stats.t.ppf(0.975, 29) + stats.t.ppf(0.8, 29)
    assert ours.detectable_from_error(0.02, 30) == pytest.approx(0.02 * multiple)


def test_kappas_equal_statsmodels_and_the_bootstrap_error_is_near_the_asymptotic_one() -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 3, 400)
    b = np.where(rng.random(400) < 0.7, a, rng.integers(0, 3, 400))
    table = np.array([[np.sum((a == i) & (b == j)) for j in range(3)] for i in range(3)])
    expected = inter_rater.cohens_kappa(table)
    estimate = ours.cohen_kappa(a.tolist(), b.tolist())
    assert estimate.value == pytest.approx(expected.kappa)
    assert estimate.se == pytest.approx(expected.std_kappa, rel=0.05)
    counts = [[int(x == c) + int(y == c) for c in range(3)] for x, y in zip(a, b, strict=True)]
    assert ours.fleiss_kappa(counts).value == pytest.approx(inter_rater.fleiss_kappa(counts))

"""Worked examples that others have printed."""

from __future__ import annotations

from typing import Any

import pytest
from turntide.results import statistics as ours


def test_wilson_and_exact_intervals_of_newcombe(published: dict[str, Any]) -> None:
    for k, n, score, exact in published["newcombe_1998"]["rows"]:
        wilson, clopper_pearson = ours.wilson(k, n), ours.clopper_pearson(k, n)
        assert [wilson.low, wilson.high] == pytest.approx(score, abs=5e-5)
        assert [clopper_pearson.low, clopper_pearson.high] == pytest.approx(exact, abs=5e-5)


def test_mcnemar_exact_and_mid_p_of_fagerland(published: dict[str, Any]) -> None:
    for only_a, only_b, n, exact, mid in published["fagerland_2013"]["rows"]:
        assert ours.mcnemar(only_a, only_b, n).p == pytest.approx(exact, abs=5e-5)
        assert ours.mcnemar(only_a, only_b, n, mid_p=True).p == pytest.approx(mid, abs=5e-5)


def test_fleiss_kappa_of_thirty_patients(published: dict[str, Any]) -> None:
    example = published["fleiss_1971"]
    assert ours.fleiss_kappa(example["counts"]).value == pytest.approx(example["kappa"], abs=5e-4)
    assert ours.raw_agreement(example["counts"]).value == pytest.approx(example["agreement"], abs=5e-5)


def test_cohen_kappa_of_two_hundred_patients(published: dict[str, Any]) -> None:
    example = published["cohen_1968"]
    cells = [(i, j) for i, row in enumerate(example["table"]) for j, count in enumerate(row) for _ in range(count)]
    estimate = ours.cohen_kappa([i for i, _ in cells], [j for _, j in cells])
    assert estimate.n == 200
    assert estimate.value == pytest.approx(example["kappa"], abs=5e-4)


def test_intra_class_correlations_of_shrout_and_fleiss(published: dict[str, Any]) -> None:
    example = published["shrout_fleiss_1979"]
    assert ours.one_way(example["ratings"]).icc == pytest.approx(example["icc_one_way"], abs=5e-3)
    assert ours.two_way(example["ratings"]).icc == pytest.approx(example["icc_two_way"], abs=5e-3)


def test_holm_stops_at_the_first_step_that_fails() -> None:
    # Sorted times 5, 4, 3, 2, 1 and made monotone: 0.0015, 0.012, 0.162, 0.64, 0.64.
    assert ours.holm([0.5, 0.003, 0.32, 0.054, 0.0003]) == pytest.approx((0.64, 0.012, 0.64, 0.162, 0.0015))


def test_majority_acceptance_of_tide_table_1(published: dict[str, Any]) -> None:
    for samples, rejected, percent in published["tide_table_1"]["rows"]:
        verdicts = [[True, True, True, False, False]] * (samples - rejected) + [[True, True] + [False] * 3] * rejected
        estimate = ours.majority_acceptance(verdicts)
        assert round(100 * estimate.value, 1) == percent
        assert ours.strict_acceptance(verdicts).value == 0


def test_joint_accuracy_exceeds_the_product_of_its_parts_as_tide_reports(published: dict[str, Any]) -> None:
    excesses: list[float] = []
    for parts_and_joint in published["tide_table_3"]["rows"]:
        n = 1_000
        chain, drift, joint = ([1.0] * round(share * 10) + [0.0] * (n - round(share * 10)) for share in parts_and_joint)
        result = ours.joint_against_parts([chain, drift], joint, range(n), resamples=200)
        assert result.product.value == pytest.approx(parts_and_joint[0] * parts_and_joint[1] / 10_000)
        excesses.append(100 * result.excess.value)
    assert (round(min(excesses)), round(max(excesses))) == (10, 13)

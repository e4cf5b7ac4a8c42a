"""Comparisons, on observations few enough to be counted by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.results.compare import comparison, judged
from turntide.results.contrasts import contrasts, metrics_of, sides_of_runs, sides_within
from turntide.results.measures import Measures, Observation
from turntide.results.rescored import rescored
from turntide.results.statistics import holm, mcnemar, paired_bootstrap, paired_proportions
from turntide.results.table import Cell, Difference, Number, Table

Signs = Mapping[tuple[str, str], str]
"""By model and part, a sign per item: + right, - wrong, . not scored. Two items make one cluster."""


def measures(signs: Signs, usd: str = "0.5") -> Measures:
    found = [
        Observation(
            unit=f"{model}/{part}/{place // 2}",
            model=model,
            part=part,
            item=f"i{place}",
            cluster=f"c{place // 2}",
            outcome="correct" if sign == "+" else "wrong",
            metrics={"EX": sign == "+", "EX-bird": True},
        )
        for (model, part), row in signs.items()
        for place, sign in enumerate(row)
        if sign != "."
    ]
    planned = Counter({(*cell, metric): len(row) for cell, row in signs.items() for metric in ("EX", "EX-bird")})
    costs: defaultdict[str, Decimal | None] = defaultdict(Decimal, {each.unit: Decimal(usd) for each in found})
    return Measures(("EX", "EX-bird"), found, planned, {}, costs)


OLD: Signs = {("m", "A"): "+-+-----", ("m", "B"): "++++----"}
NEW: Signs = {("m", "A"): "+-+-----", ("m", "B"): "+++++++-"}


def runs(*signs: Signs) -> list[tuple[str, Measures]]:
    return [(f"run{place}", measures(each)) for place, each in enumerate(signs)]


def rows(table: Table) -> dict[tuple[Cell, ...], dict[str, Cell]]:
    at = table.labels
    return {tuple(row[:at]): dict(zip(table.columns[at:], row[at:], strict=True)) for row in table.rows}


def table(tables: Sequence[Table], key: str) -> Table:
    return next(each for each in tables if each.key == key)


def test_runs_are_paired_item_by_item_within_every_model_and_condition() -> None:
    found = judged(contrasts(sides_of_runs(runs(OLD, NEW))), ["EX"])
    assert [(each.contrast.name, each.flips) for each in found] == [("A", (0, 0)), ("B", (3, 0))]
    assert found[1].difference.points == pytest.approx(37.5)
    assert [rate.hits for rate in found[1].rates] == [4, 7]


def test_both_tests_are_corrected_over_all_rows_and_the_bootstrap_stands_beside() -> None:
    found = judged(contrasts(sides_of_runs(runs(OLD, NEW))), ["EX"])
    clusters = [f"c{place // 2}" for place in range(8)]
    pairs = [([sign == "+" for sign in NEW["m", part]], [sign == "+" for sign in OLD["m", part]]) for part in "AB"]
    assert [each.difference.p for each in found] == list(holm([paired_proportions(a, b, clusters).p for a, b in pairs]))
    assert [each.mcnemar for each in found] == list(holm([mcnemar(0, 0, 8).p, mcnemar(3, 0, 8).p]))
    interval = paired_bootstrap(*pairs[1], clusters).difference.interval
    assert found[1].bootstrap == Number(37.5, 1, True, 100 * interval.low, 100 * interval.high)


def test_two_runs_of_one_model_each_are_compared_whatever_their_models_are_called() -> None:
    other = {("n", part): row for (_, part), row in NEW.items()}
    assert [each.name for each in contrasts(sides_of_runs(runs(OLD, other)))] == ["A", "B"]
    two = {**OLD, ("n", "A"): "+" * 8}
    names = [each.name for each in contrasts(sides_of_runs(runs(two, OLD)))]
    assert names == ["m A", "m B"]  # what only one of them ran is left out


def test_models_and_conditions_of_one_run_are_compared_with_the_first_or_the_named_one() -> None:
    both = measures({**OLD, ("n", "B"): "++++++++"})
    by_model = contrasts(sides_within(both, "model"))
    assert [(each.baseline, each.other, each.name, len(each.pairs)) for each in by_model] == [("m", "n", "B", 8)]
    by_part = contrasts(sides_within(both, "part"), baseline="B")
    assert [(each.baseline, each.other, each.name) for each in by_part] == [("B", "A", "m")]
    with pytest.raises(ConfigurationError, match="there is no 'C' to compare with; there are A, B"):
        contrasts(sides_within(both, "part"), baseline="C")


def test_what_has_nothing_in_common_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no scored observation in common"):
        contrasts(sides_of_runs(runs({("m", "A"): "+."}, {("m", "A"): ".+"})))
    with pytest.raises(ConfigurationError, match="nothing to compare run0 with"):
        contrasts(sides_of_runs(runs(OLD)))


def partly() -> Measures:
    """Return measures of three parts; A has no EX, only EX-bird."""
    every = measures({("m", part): "+-+-" for part in "ABC"})
    for each in every.observations:
        if each.part == "A":
            assert isinstance(each.metrics, dict)
            del each.metrics["EX"]
    del every.planned["m", "A", "EX"]
    return every


def test_the_metric_is_one_that_both_sides_have_and_of_another_it_is_said_where_it_is() -> None:
    sides = sides_within(partly(), "part")
    known = ["EX", "EX-bird", "EX-ordered"]
    found = contrasts(sides)
    assert metrics_of(sides, found, known) == ["EX-bird"]
    assert metrics_of(sides, contrasts(sides, "B"), known) == ["EX"]
    lacks = "EX has no values on both A and .*; it has some on B, C. Choose --metric EX-bird, or --baseline B or C."
    with pytest.raises(ConfigurationError, match=lacks):
        metrics_of(sides, found, known, ["EX-bird", "EX"])
    with pytest.raises(ConfigurationError, match=r"it has none anywhere here\. Choose --metric EX-bird\."):
        metrics_of(sides, found, known, ["EX-ordered"])
    with pytest.raises(ConfigurationError, match="there is no metric 'F1'; there are EX, EX-bird, EX-ordered"):
        metrics_of(sides, found, known, ["F1"])


def test_what_only_one_side_has_a_metric_for_is_no_flip() -> None:
    found = judged(contrasts(sides_within(partly(), "part"), "B"), ["EX", "EX-bird"])
    assert [(each.contrast.other, each.metric) for each in found] == [("A", "EX-bird"), ("C", "EX"), ("C", "EX-bird")]
    assert [each.key for each in comparison(found, {}).tables] == ["differences", "checks", "costs"]


def test_parts_of_other_items_pair_by_what_these_have_in_common_and_only_where_the_plan_shares_some() -> None:
    every = measures({("m", "A"): "+-+-", ("m", "B"): "++.-", ("m", "C"): "+-"})
    own = [replace(each, item=f"{each.part}:{each.item}", match=each.item) for each in every.observations]
    every = replace(every, observations=own, shared={("A", "B"): 3, ("B", "A"): 3, ("C", "B"): 2})
    (one,) = judged(contrasts(sides_within(every, "part")), ["EX"])
    assert (one.contrast.other, one.difference.n, one.difference.planned, one.complete) == ("B", 3, 3, True)
    (other,) = judged(contrasts(sides_within(replace(every, shared={("A", "B"): 4}), "part")), ["EX"])
    assert (other.difference.n, other.complete) == (3, False)
    with pytest.raises(ConfigurationError, match="A cannot be paired with B, C"):
        contrasts(sides_within(replace(every, shared={}), "part"))


def test_unscored_observations_are_left_out_and_the_comparison_says_so() -> None:
    found = judged(contrasts(sides_of_runs(runs(OLD, {**NEW, ("m", "B"): "++++++.."}))), ["EX"])
    assert (found[1].difference.n, found[1].difference.planned, found[1].complete) == (6, 8, False)
    assert comparison(found, {}).marks["INCOMPLETE"].startswith("2 planned pairs are not scored on both sides")


@pytest.mark.parametrize(
    ("points", "p", "limit", "worse"),
    [
        (-3.0, 0.01, 0, True),
        (-3.0, 0.2, 0, False),
        (-3.0, 0.01, 5, False),
        (3.0, 0.01, 0, False),
        (None, None, 0, False),
    ],
)
def test_worse_is_a_loss_beyond_the_limit_that_the_corrected_test_confirms(
    points: float | None, p: float | None, limit: float, worse: bool
) -> None:
    (one, _) = judged(contrasts(sides_of_runs(runs(OLD, NEW))), ["EX"])
    assert replace(one, difference=Difference(points=points, p=p)).worse(limit) is worse


def test_a_gained_point_has_a_price_only_where_the_better_side_is_dearer() -> None:
    prices = {"0.75": Decimal(4) * (Decimal("0.25")) / Decimal("37.5"), "0.5": "cheaper and better"}
    for usd, expected in prices.items():
        sides = sides_of_runs([("old", measures(OLD)), ("new", measures(NEW, usd))])
        row = rows(table(comparison(judged(contrasts(sides), ["EX"]), {}).tables, "costs"))["new", "B"]
        assert (row["baseline USD"], row["other USD"]) == (2, 4 * Decimal(usd))
        assert row["USD per gained point"] == expected


def test_flips_are_listed_with_what_they_were_and_became() -> None:
    flips = table(comparison(judged(contrasts(sides_of_runs(runs(OLD, NEW))), ["EX"]), {}).tables, "flips")
    assert flips.rows[0] == ["run1", "B", "i4", "EX", "gained", "wrong", "correct"]
    assert [row[2] for row in flips.rows] == ["i4", "i5", "i6"]


def test_a_rescoring_shows_what_changed_by_metric_and_outcome() -> None:
    found = rescored("S", {}, measures(OLD), measures(NEW)).tables
    changes = rows(table(found, "changes"))
    assert changes == {
        ("A", "EX"): {"n": 8, "before": 2, "after": 2, "gained": 0, "lost": 0},
        ("B", "EX"): {"n": 8, "before": 4, "after": 7, "gained": 3, "lost": 0},
    }
    assert table(found, "outcomes").rows == [["B", "wrong", "correct", 3]]

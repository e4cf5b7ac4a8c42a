"""Each table's numbers, counted by hand on sixteen triplet-dialogues per model (see conftest.py)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from turntide.datasets.tide.metrics import METRICS
from turntide.datasets.tide.record import Ending, Plan
from turntide.datasets.tide.samples import SUBTYPES, VERDICTS
from turntide.results.published import read_published
from turntide.results.statistics import clustered_proportion
from turntide.results.table import Cell, Difference, Number, Rate, Table
from turntide.results.tide import accuracy, breakdown, chain, data, drift, interaction, outcomes
from turntide.results.tide.dialogues import Dialogues
from turntide.results.tide.reading import reading
from turntide.results.tide.report import tables
from turntide.results.tide.simulator import PUBLISHED, Decisions
from turntide.results.tide.simulator import tables as router_tables

from tests.support.published import misfits

from .conftest import TRIPLETS, dialogue

Row = dict[str, Cell]


def rows(grid: Table) -> dict[tuple[Cell, ...], Row]:
    """Return a table's rows by their labels, each cell under its column."""
    return {
        tuple(row[: grid.labels]): dict(zip(grid.columns[grid.labels :], row[grid.labels :], strict=True))
        for row in grid.rows
    }


def counts(row: Row) -> dict[str, tuple[int, int, int]]:
    return {name: (cell.hits, cell.scored, cell.planned) for name, cell in row.items() if isinstance(cell, Rate)}


def test_table_3_is_dea_by_set_and_subtype(dialogues: Dialogues) -> None:
    found = rows(accuracy.dea(dialogues))
    assert counts(found["good",]) == {
        "Chain-only": (3, 4, 4),
        "Drift-only Value": (2, 2, 2),
        "Drift-only Constraint": (1, 1, 1),
        "Drift-only Projection": (1, 1, 1),
        "Drift-only All": (4, 4, 4),
        "Joint Value": (1, 2, 2),
        "Joint Constraint": (1, 1, 1),
        "Joint Projection": (1, 1, 1),
        "Joint All": (3, 4, 4),
    }
    poor = counts(found["poor",])
    assert poor["Drift-only All"] == (1, 4, 4)
    assert poor["Joint All"] == (0, 3, 4)  # a simulator's fault is not scored
    assert poor["Joint Projection"] == (0, 0, 1)
    assert counts(found["all",])["Chain-only"] == (3, 8, 8)


def test_a_rate_carries_the_interval_of_its_clusters(dialogues: Dialogues) -> None:
    cell = rows(accuracy.dea(dialogues))["all",]["Chain-only"]
    interval = clustered_proportion([1, 0, 1, 1, 0, 0, 0, 0], ["v1", "v2", "c1", "p1"] * 2).interval
    assert isinstance(cell, Rate)
    assert (cell.low, cell.high) == pytest.approx((interval.low, interval.high))


def test_table_13_is_identification_and_ask_rates(dialogues: Dialogues) -> None:
    found = rows(chain.identification(dialogues))
    good, poor = counts(found["good",]), counts(found["poor",])
    assert {name: hits for name, (hits, _, _) in good.items()} == {
        "Chain-only L1-IR": 4, "Chain-only L2-IRp": 4, "Chain-only JIR": 4, "Chain-only AR": 4,
        "Joint L1-IR": 4, "Joint L2-IRp": 4, "Joint JIR": 4, "Joint AR": 4, "Drift-only AR": 0,
    }  # fmt: skip
    assert poor["Chain-only L1-IR"] == (1, 4, 4)
    assert poor["Chain-only AR"] == (4, 4, 4)
    assert poor["Chain-only JIR"] == poor["Chain-only L2-IRp"] == (0, 4, 4)
    by_verdict = rows(chain.identification_by_verdict(dialogues))
    assert counts(by_verdict["eliminated", "poor"])["Chain-only L1-IR"] == (1, 2, 2)
    assert counts(by_verdict["transformed", "poor"])["Chain-only L1-IR"] == (0, 2, 2)


def test_a_run_of_the_p_protocol_alone_has_its_own_sizes_and_deeper_chains_their_own_columns(plan: Plan) -> None:
    record = dialogue("deep", "p", "joint", TRIPLETS[0], "++", rho=("L2", "L3"))
    deep = Dialogues(plan, ["deep"], frozenset({("deep", "p", "joint")}), 1, [record])
    found = chain.identification(deep)
    assert found.columns == ("model", "Joint L2-IRp")
    assert found.note.endswith("n per model: Joint 4.")
    assert rows(chain.router(deep))["deep",]["L3"] == 1


def test_table_14_is_dra_by_subtype_and_drr(dialogues: Dialogues) -> None:
    poor = counts(rows(drift.handling(dialogues))["poor",])
    assert poor["Drift-only DRA Value"] == (1, 2, 2)
    assert poor["Drift-only DRA All"] == (1, 4, 4)
    assert poor["DRR Drift-only"] == (1, 4, 4)  # not drift, unparsable and missing are all unrecognised
    assert poor["Joint DRA All"] == (1, 3, 4)  # the first query need not be right
    assert poor["DRR Joint"] == (2, 3, 4)


def test_the_gap_is_drr_minus_dra_and_observed_pairs_leave_out_what_cannot_be_compared(dialogues: Dialogues) -> None:
    found = rows(drift.gap(dialogues))
    joint = found["Joint", "poor"]["gap (points)"]
    assert isinstance(joint, Difference)
    assert joint.points == pytest.approx(100 / 3)
    assert (joint.n, joint.planned) == (3, 4)
    assert counts(found["Drift-only", "poor"])["DRR% of observed pairs"] == (1, 2, 2)


def test_drift_to_joint_is_matched_by_triplet(dialogues: Dialogues) -> None:
    found = rows(drift.drift_to_joint(dialogues))["poor",]
    drr, dea = found["DRR"], found["DEA"]
    assert isinstance(drr, Difference)
    assert isinstance(dea, Difference)
    # v1, v2 and c1 are scored in both sets: recognised 1 of 3 in Drift-only, 2 of 3 in Joint; right 1 and 0.
    assert (drr.points, drr.n) == (pytest.approx(100 / 3), 3)
    assert dea.points == pytest.approx(-100 / 3)


def test_joint_is_compared_with_the_product_of_the_parts(dialogues: Dialogues) -> None:
    good = rows(interaction.joint_against_product(dialogues))["good",]
    assert counts(good) == {"Chain-only": (3, 4, 4), "Drift-only": (4, 4, 4), "Joint": (3, 4, 4)}
    product = good["product"]
    assert isinstance(product, Number)
    assert product.value == 75
    assert product.low is not None
    excess = good["excess"]
    assert isinstance(excess, Difference)
    assert (excess.points, excess.n) == (pytest.approx(0), 4)


def test_error_propagation_counts_every_way_and_what_is_inherited(dialogues: Dialogues) -> None:
    found = rows(drift.error_propagation(dialogues))
    signs = ("+++", "++-", "+-+", "+--", "-++", "-+-", "--+", "---")
    assert [found["Drift-only", "poor"][each] for each in signs] == [1, 0, 0, 3, 0, 0, 0, 0]
    assert [found["Joint", "poor"][each] for each in signs] == [0, 0, 0, 0, 1, 1, 0, 1]
    assert counts(found["Joint", "poor"])["error inherited %"] == (1, 2, 2)
    assert counts(found["Joint", "good"])["error inherited %"] == (1, 1, 1)


def test_every_metric_stands_in_every_group_of_every_set_that_it_is_taken_on(dialogues: Dialogues) -> None:
    found = rows(breakdown.breakdown(dialogues))
    assert counts(found["all", "", "Joint", "poor"])["DRA"] == (1, 3, 4)
    assert counts(found["subtype", "value", "Drift-only", "poor"]) == {
        "DEA": (1, 2, 2), "AR": (0, 2, 2), "DRR": (1, 2, 2), "DRA": (1, 2, 2),
    }  # fmt: skip
    assert counts(found["verdict", "transformed", "Chain-only", "good"]) == {
        "DEA": (1, 2, 2), "AR": (2, 2, 2), "L1-IR": (2, 2, 2), "L2-IRp": (2, 2, 2), "JIR": (2, 2, 2),
    }  # fmt: skip
    assert {(by, value) for by, value, _, _ in found} == {
        ("all", ""), ("tier", "basic"), *(("subtype", s) for s in SUBTYPES), *(("verdict", v) for v in VERDICTS),
    }  # fmt: skip
    for (_, _, kind, _), cells in found.items():
        taken = {metric.name for metric in METRICS if kind in [accuracy.SET_NAMES[each] for each in metric.kinds]}
        assert set(counts(cells)) == taken


def test_a_dialogue_is_listed_by_its_queries_and_one_that_is_not_scored_by_its_ending() -> None:
    def listed(right: str, ending: Ending = "complete") -> Sequence[str]:
        record = dialogue("m", "f", "joint", TRIPLETS[0], right, ending=ending)
        return reading().listed([msgspec.to_builtins(record)]).outcomes

    assert listed("+-") == ["right query", "wrong query"]
    assert listed("+.", "turn_limit") == ["right query", "no query", "turn limit"]
    assert listed("+.", "simulator_error") == ["simulator error"]
    assert reading().unscored == {"simulator error"}
    assert reading().endings == {"abstained", "cut", "refused", "turn limit"}


def test_the_other_comparisons_stand_beside_the_headline(dialogues: Dialogues) -> None:
    found = rows(accuracy.comparisons(dialogues))["Chain-only",]
    assert counts(found)["multiset"] == (3, 8, 8)
    assert counts(found)["bird"] == (8, 8, 8)


def test_what_is_missing_is_bounded_from_both_sides(dialogues: Dialogues) -> None:
    found = rows(accuracy.completeness(dialogues))["poor", "f", "Joint"]
    assert (found["scored"], found["planned"]) == (3, 4)
    assert (found["if all missing fail"], found["if all missing succeed"]) == (Number(0), Number(25))


def test_endings_and_queries_are_counted_unscored_ones_apart(dialogues: Dialogues) -> None:
    found = rows(outcomes.endings(dialogues))["poor", "f", "Joint"]
    assert [found[name] for name in ("complete", "turn limit", "simulator error")] == [2, 1, 1]
    after = rows(outcomes.queries(dialogues))["poor", "after a drift"]
    assert (after["given"], after["right"], after["no commitments"]) == (9, 2, 1)
    assert rows(chain.router(dialogues))["poor",]["dialogues unscored"] == 1


def test_the_data_set_is_described_once_whatever_the_protocols(dialogues: Dialogues) -> None:
    found = rows(data.composition(dialogues.plan))
    assert found["set", "joint"]["samples"] == 4
    assert found["subtype", "value"] == {"samples": 6, "%": Number(50)}
    changes = rows(data.structural_change(dialogues.plan))
    assert changes["triplets (n)",]["Value"] == 2
    assert changes["WHERE predicates",]["Value"] == Number(-0.5, 2, signed=True)
    assert rows(data.tier_change(dialogues.plan))["value",]["after intermediate"] == 1


def test_every_published_value_has_a_cell(dialogues: Dialogues, plan: Plan) -> None:
    changes = [msgspec.structs.replace(plan.changes[0], subtype=subtype) for subtype in SUBTYPES]
    changed = data.structural_change(msgspec.structs.replace(plan, changes=tuple(changes)))
    found = [*tables(dialogues), *router_tables([Decisions("rules", {})]), changed]
    assert misfits(read_published(PUBLISHED), found) == []


def test_every_table_has_a_key_of_its_own(dialogues: Dialogues) -> None:
    keys = [table.key for table in tables(dialogues)]
    assert len(set(keys)) == len(keys) == 20

"""Each table's numbers, counted by hand on a small sweep (see conftest.py)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import Usage
from turntide.engine.folder.manifest import Manifest
from turntide.results.enterprisemem import reasoning
from turntide.results.enterprisemem.report import PUBLISHED, report
from turntide.results.enterprisemem.sweep import read_sweep
from turntide.results.published import read_published
from turntide.results.reading import ModelIdentity, open_run
from turntide.results.report import Report
from turntide.results.statistics import clustered_proportion, holm, paired_proportions
from turntide.results.table import Cell, Difference, Number, Rate, Table

from tests.support.published import misfits
from tests.support.sweeps import Sweep, Talk, write

Row = dict[str, Cell]


@pytest.fixture
def small(tmp_path: Path, sweep: Sweep) -> Report:
    return report([open_run(write(tmp_path / "run", sweep))])


@pytest.fixture
def wide(tmp_path: Path, all_conditions: Sweep) -> Report:
    return report([open_run(write(tmp_path / "run", all_conditions))])


def table(found: Report, key: str) -> Table:
    return next(table for table in found.tables if table.key == key)


def rows(found: Report, key: str) -> dict[tuple[Cell, ...], Row]:
    """Return a table's rows by their labels, each cell under its column."""
    grid = table(found, key)
    return {
        tuple(row[: grid.labels]): dict(zip(grid.columns[grid.labels :], row[grid.labels :], strict=True))
        for row in grid.rows
    }


def rate(cell: Cell) -> tuple[int, int, int]:
    assert isinstance(cell, Rate)
    return cell.hits, cell.scored, cell.planned


def points(cell: Cell) -> float:
    assert isinstance(cell, Difference)
    assert cell.points is not None
    return cell.points


def test_ex_is_correct_of_scored_per_cell_and_over_all_models(small: Report) -> None:
    found = rows(small, "ex_by_condition")
    assert {label[0]: (rate(row["A"]), rate(row["B"])) for label, row in found.items()} == {
        "sim/one": ((4, 13, 13), (13, 13, 13)),
        "sim/two": ((4, 13, 13), (12, 13, 13)),
        "all": ((8, 26, 26), (25, 26, 26)),
    }


def test_intervals_are_wilsons_at_the_effective_size_with_equal_sessions_as_one_cluster(small: Report) -> None:
    cell = rows(small, "ex_by_condition")[("sim/one",)]["A"]
    assert isinstance(cell, Rate)
    right = [1] + [1, 0, 0, 0] * 3
    clusters = ["NW-1", *["NW-2"] * 4, *["twins"] * 8]
    interval = clustered_proportion(right, clusters).interval
    assert (cell.low, cell.high) == (interval.low, interval.high)


def test_ex_by_source_tier_and_turn_counts_its_own_turns(small: Report) -> None:
    source, tier, turn = (rows(small, key) for key in ("ex_by_source", "ex_by_tier", "ex_by_turn"))
    assert rate(source["northwind", "sim/one"]["A"]) == (2, 5, 5)
    assert rate(source["sec_edgar", "sim/two"]["B"]) == (7, 8, 8)
    assert rate(tier["T1", "all"]["A"]) == (2, 2, 2)
    assert rate(tier["T2", "sim/two"]["B"]) == (11, 12, 12)
    assert [rate(turn["A", "sim/one"][f"T{depth}"]) for depth in (1, 2, 3, 4)] == [(4, 4, 4), *[(0, 3, 3)] * 3]
    assert rate(turn["B", "all"]["T4"]) == (5, 6, 6)
    assert "T1 4, T2 3, T3 3, T4 3" in table(small, "ex_by_turn").note


def test_mbs_is_the_paired_difference_to_a_in_points(small: Report) -> None:
    found = rows(small, "mbs_by_turn")
    assert points(found["B", "sim/one"]["all turns"]) == pytest.approx(100 * 9 / 13)
    assert points(found["B", "sim/two"]["all turns"]) == pytest.approx(100 * 8 / 13)
    assert points(found["B", "all"]["T1"]) == 0
    assert points(found["B", "sim/two"]["T4"]) == pytest.approx(100 * 2 / 3)


def test_the_macro_average_weighs_every_source_alike(small: Report) -> None:
    macro = rows(small, "mbs_by_turn")["B", "sim/two"]["macro"]
    assert isinstance(macro, Number)
    assert macro.value == pytest.approx(100 * (3 / 5 + 5 / 8) / 2)
    assert macro.low is not None
    assert macro.low < macro.value


def test_the_ablation_is_three_steps_and_their_sum(wide: Report) -> None:
    found = rows(wide, "ablation")
    assert list(found["sim/two", "all"]) == [
        "n",
        "window (B_wm5 - B)",
        "episodic (C - B_wm5)",
        "semantic (D - C)",
        "net (D - B)",
    ]
    assert all(points(cell) == 0 for row in found.values() for cell in list(row.values())[1:])
    assert [row["n"] for row in found.values()] == [5, 8, 13, 5, 8, 13, 10, 16, 26]
    assert len(found) == 3 * 3


def test_an_ablation_step_shows_where_its_two_conditions_are_there(tmp_path: Path, all_conditions: Sweep) -> None:
    found = report([open_run(write(tmp_path, replace(all_conditions, conditions=("C", "D"))))])
    assert table(found, "ablation").columns == ("model", "source", "n", "semantic (D - C)")
    assert "mbs_by_turn" not in [each.key for each in found.tables]


def test_the_p_values_of_a_table_are_corrected_together(small: Report, sweep: Sweep) -> None:
    raw: list[float] = []
    for models in (["sim/one"], ["sim/two"], ["sim/one", "sim/two"]):
        for depth in (None, 1, 2, 3, 4):
            places = [
                (model, talk, turn)
                for model in models
                for talk in sweep.talks
                for turn in range(1, talk.turns + 1)
                if depth in (None, turn)
            ]
            at_a, at_b = ([sweep.told(m, c, t, n)["category"] == "correct" for m, t, n in places] for c in ("A", "B"))
            raw.append(paired_proportions(at_b, at_a, [talk.cluster or talk.name for _, talk, _ in places]).p)
    cells = [cell for row in rows(small, "mbs_by_turn").values() for cell in row.values()]
    assert [cell.p for cell in cells if isinstance(cell, Difference) and cell.p is not None] == list(holm(raw))
    assert "15 differences" in table(small, "mbs_by_turn").note  # the macro average is not tested


def test_categories_are_exclusive_and_wr_has_both_denominators(small: Report) -> None:
    found = rows(small, "errors")
    at_a = found["sim/one", "A"]
    names = ("scored", "correct", "wrong result", "runtime", "syntax", "preamble")
    assert [at_a[name] for name in names] == [13, 4, 3, 3, 0, 3]
    share = rows(small, "wrong_results")
    assert rate(share["sim/one", "turns"]["A"]) == (3, 13, 13)
    assert rate(share["sim/one", "errors"]["A"]) == (3, 9, 9)
    assert rate(share["sim/one", "errors"]["B"]) == (0, 0, 0)
    assert (share["all", "turns"]["n"], share["all", "errors"]["n"]) == (26, None)  # errors have an n of their own each


def test_errors_are_told_by_depth(small: Report) -> None:
    found = rows(small, "errors_by_turn")
    assert set(found) == {
        *((model, "A", kind) for model in ("sim/one", "sim/two") for kind in ("preamble", "wrong result", "runtime")),
        ("sim/two", "B", "wrong result"),
    }
    preambles = found["sim/one", "A", "preamble"]
    assert preambles["errors"] == 3
    assert [rate(preambles[f"T{depth}"])[:2] for depth in (1, 2, 3, 4)] == [(0, 4), (3, 3), (0, 3), (0, 3)]


def test_the_benchmark_is_described_as_it_was_run(small: Report) -> None:
    sources, sessions = rows(small, "sources"), rows(small, "sessions")
    assert list(sources["northwind",].values()) == ["northwind (synthetic)", 2, 5, 3, 20]
    assert list(sources["all",].values()) == ["", 4, 13, 9, 52]
    assert list(sessions["sec_edgar",].values()) == [0, 0, 2, 8, 2, 8, 6, Number(75, 2)]


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        ("openai/gpt-5-mini", {}, True),
        ("openai/gpt-5.2", {}, False),
        ("openai/gpt-5.2", {"reasoning_effort": "medium"}, True),
        ("anthropic/claude-sonnet-4-5", {}, False),
        ("anthropic/claude-sonnet-4-5", {"thinking_budget": 4096}, True),
        ("compatible/unheard-of", {}, False),
        ("compatible/unheard-of", {"reasoning_effort": "low"}, True),
    ],
)
def test_a_model_that_reasons_by_itself_counts_as_one_that_reasons(
    model: str, options: dict[str, Any], expected: bool
) -> None:
    assert reasoning.reasons(ModelIdentity(label=model, id=model, options=options)) is expected


def test_a_model_with_and_without_reasoning_is_compared_turn_by_turn(sweep: Sweep, tmp_path: Path) -> None:
    thinking = replace(sweep, models=("sim/one",))
    standard = replace(sweep, models=("sim/two",))
    folders = [write(tmp_path / name, each) for name, each in (("a", standard), ("b", thinking))]
    for folder, options in zip(folders, ({}, {"thinking_budget": 5000}), strict=True):
        held = Manifest.load(folder)
        model = {**held.identity["models"][0], "id": "sim/same", "options": options}
        replace(held, identity={**held.identity, "models": [model]}).save(folder)
    found = rows(report(list(map(open_run, folders))), "reasoning")
    assert points(found["sim/two", "sim/one", "B"]["gained (points)"]) == pytest.approx(100 / 13)
    assert found["sim/two", "sim/one", "A"]["n"] == 13


def test_finer_labels_stand_apart(small: Report) -> None:
    assert rows(small, "details") == {
        ("sim/one", "A", "runtime", "timeout"): {"turns": 3},
        ("sim/two", "A", "runtime", "timeout"): {"turns": 3},
    }


def test_contamination_counts_turns_on_which_gold_and_fallback_differ(small: Report) -> None:
    found = rows(small, "contamination")
    at_a, at_b = found["sim/one", "A"], found["sim/two", "B"]
    assert (at_a["turns"], at_a["wrong"]) == (6, 6)  # turn 4's two results are the same: it tells nothing
    assert rate(at_a["fallback's result %"]) == (3, 6, 6)
    assert (at_b["turns"], at_b["wrong"]) == (9, 1)
    assert rate(at_b["shown episode's result %"]) == (1, 9, 9)


def test_the_other_comparisons_stand_beside_and_their_turns_are_listed(small: Report) -> None:
    at_b = table(small, "comparisons").rows[1]
    assert [*at_b[:2], *map(rate, at_b[2:4])] == ["B", 26, (25, 26, 26), (26, 26, 26)]
    assert list(at_b[4::2]) == [1, 1, 0]
    assert table(small, "disagreements").rows == [["sec_edgar", "SEC-3", 4, 1, 1, 0, 4]]


def test_tokens_and_money_are_summed_exactly_per_cell(tmp_path: Path, sweep: Sweep) -> None:
    usage = Usage(input_tokens=100, cached_tokens=40, output_tokens=10, reasoning_tokens=4)
    paid = replace(sweep, spent=usage, usd=Decimal("0.0000001"))
    found = rows(report([open_run(write(tmp_path, paid))]), "cost")
    assert list(found["sim/one", "A"].values()) == [13, 1300, 520, 130, 52, Decimal("0.0000013"), 0]
    assert list(found["sim/two", "all"].values()) == [26, 2600, 1040, 260, 104, Decimal("0.0000026"), 0]


def test_an_answer_without_a_known_price_is_counted_not_summed_as_zero(tmp_path: Path, sweep: Sweep) -> None:
    found = rows(report([open_run(write(tmp_path, replace(sweep, usd=None)))]), "cost")
    assert (found["sim/one", "A"]["USD"], found["sim/one", "A"]["unpriced answers"]) == (0, 13)


def test_every_published_value_has_a_cell(tmp_path: Path) -> None:
    talks = [Talk(name=f"t{turns}", turns=turns) for turns in (1, 4, 10)]
    sweep = Sweep(talks=talks, models=("sim/one", "sim/two"), conditions=("A", "B", "B_wm5", "C", "D"))
    runs = [open_run(write(tmp_path, sweep))]
    modes = reasoning.comparison(read_sweep(runs).turns, [("sim/one", "sim/two")])
    assert misfits(read_published(PUBLISHED), [*report(runs).tables, modes]) == []


def test_repeats_are_pooled_and_planned_as_often(tmp_path: Path, sweep: Sweep) -> None:
    found = report([open_run(write(tmp_path, replace(sweep, repeats=3)))])
    assert rate(rows(found, "ex_by_condition")[("sim/two",)]["B"]) == (36, 39, 39)
    assert found.title.endswith("13 turns × 3 repeats")

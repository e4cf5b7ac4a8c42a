"""Sets beyond the paper's design: deeper chains, several drifts, and chains that a drift opens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.tide.check import check
from turntide.datasets.tide.design import PAPERS, Design
from turntide.datasets.tide.files import TripletFile, dump_triplets
from turntide.datasets.tide.samples import PAPERS_SHAPE, SUBTYPES, samples_of
from turntide.datasets.tide.triplets import read
from turntide.datasets.tide.triplets.build import PlanError, generate
from turntide.datasets.tide.triplets.plan import Wanted, spread
from turntide.engine.cli import main

CELLS = spread([Design(depth=3, drifts=2, opens=opens) for opens in (0, 1, 2)], 12)


@pytest.fixture(scope="module")
def made(databases: Mapping[str, Path]) -> TripletFile:
    return generate(databases, cells=CELLS)


def test_a_design_is_spread_evenly_over_places_of_the_chain_and_subtypes() -> None:
    cells = spread([Design(), Design(opens=1)], 9)
    assert {(wanted.design.opens, wanted.subtypes): count for wanted, count in cells.items()} == {
        (0, ("value",)): 2, (0, ("constraint",)): 2, (0, ("projection",)): 1, (1, ("projection",)): 4,
    }  # fmt: skip
    two = spread([Design(drifts=2)], 8)
    assert set(two.values()) == {1}
    assert len(two) == len(SUBTYPES) ** 2 - 1, "every pair but two projections"
    opened = spread([Design(drifts=3, opens=2)], 99)
    assert {wanted.subtypes[:2] for wanted in opened} == {("value", "projection"), ("constraint", "projection")}


def test_a_set_has_the_shapes_that_were_asked_for_and_passes_every_check(
    made: TripletFile, sources: Mapping[str, SourceDatabase]
) -> None:
    assert Counter(triplet.shape for triplet in made.triplets) == {(3, 0, 0): 4, (0, 3, 0): 4, (0, 0, 3): 4}
    report = check(made, sources)
    assert report.ok
    assert (report.gold_ok, report.drift_ok) == (36, 24)
    assert not any(report.quirks.values())
    assert report.statistics.plans == {
        "chain 3, drift, drift": 4, "drift, chain 3, drift": 4, "drift, drift, chain 3": 4,
    }  # fmt: skip


def test_a_chain_that_a_drift_opens_has_no_chain_only_sample(made: TripletFile) -> None:
    for triplet in made.triplets:
        kinds = [sample.kind for sample in samples_of(triplet)]
        assert kinds == (["chain", "drift", "joint"] if triplet.shape[0] else ["drift", "joint"])


def test_the_words_give_back_every_query_and_one_answer_less_gives_none_from_there_on(made: TripletFile) -> None:
    for triplet in made.triplets:
        said = [stage.ambiguous or stage.utterance for stage in triplet.stages]
        answers = [layer.answer for layer in triplet.layers]
        golds = tuple(stage.sql for stage in triplet.stages)
        opens = triplet.shape.index(3)
        assert read(triplet.database, said, answers) == golds
        assert read(triplet.database, said, answers[:-1]) == golds[:opens] + (None,) * (3 - opens)


def test_each_layer_was_tested_against_the_one_before_it(made: TripletFile) -> None:
    """The second and the third layer each hang on the layer before; both verdicts occur at either."""
    verdicts = {(layer.label, layer.verdict) for triplet in made.triplets for layer in triplet.layers}
    assert verdicts == {("L1", None), *((label, v) for label in ("L2", "L3") for v in ("eliminated", "transformed"))}


def test_a_design_is_drawn_the_same_way_twice(databases: Mapping[str, Path], made: TripletFile) -> None:
    assert dump_triplets(generate(databases, cells=CELLS)) == dump_triplets(made)


def test_what_no_template_carries_is_said(databases: Mapping[str, Path]) -> None:
    cells = {Wanted(("value",), design=Design(depth=9)): 1}
    with pytest.raises(PlanError, match=r"1 of the 1 triplets of chain 9, drift \(value\) cannot be drawn"):
        generate(databases, cells=cells)


def test_a_design_is_named_by_its_plan() -> None:
    assert (str(PAPERS), PAPERS.shape) == ("chain 2, drift", PAPERS_SHAPE)
    assert str(Design(depth=3, drifts=2, opens=1)) == "drift, chain 3, drift"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--depth", "5", "--out", "x"], "templates go 4 layers deep"),
        (["--chain-at", "2", "--out", "x"], "--chain-at 2 names a drift that --drifts 1 does not reach"),
        (["--drifts", "2"], "need a place: --out FILE"),
    ],
)
def test_a_design_that_cannot_be_is_refused_in_a_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "build", "tide", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--depth", "1"], ["--drifts", "0"], ["--chain-at", "first"], ["--chain-at", "0,-1"]]
)
def test_numbers_that_name_no_design_are_errors_of_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["data", "build", "tide", *words, "--out", "x"])
    assert words[0] in capsys.readouterr().err


def test_a_design_is_not_for_another_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "build", "enterprisemem", "--depth", "3", "--out", "x"]) == 2
    assert "are for `turntide data build tide`" in capsys.readouterr().err

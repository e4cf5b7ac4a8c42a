"""Chains that are deeper and drifts that are more than the paper's."""

from __future__ import annotations

import json

import pytest
from msgspec import structs
from turntide.datasets.tide.construction.anchors import AnchorQuery, TreeDrift
from turntide.datasets.tide.construction.assembly import triplet_of
from turntide.datasets.tide.construction.reader import sections
from turntide.datasets.tide.construction.settings import Sources, by_query
from turntide.datasets.tide.design import Design
from turntide.datasets.tide.samples import DriftLabel, samples_of

from ....support.tide import one_by_one, scripted
from .conftest import JUDGES, Build, chain_opinion, drift_answers, drift_opinion

DEEPER = Design(depth=3, drifts=2, opens=1)
SOUTH = "SELECT name FROM shop WHERE city = 'Oslo' AND region = 'south' ORDER BY id"


def deeper_chain(*verdicts: str | None) -> str:
    """A chain of as many layers as verdicts about the first drift's turn."""
    asked = [
        {
            "term": f"term {number}", "question": f"Question {number}?", "answer": f"Answer {number}.",
            "alternative": f"Another {number}.", "decisions": [number], "verdict": verdict,
            "counterfactual": f"Instead {number}?" if verdict == "transformed" else "",
        }
        for number, verdict in enumerate(verdicts, 1)
    ]  # fmt: skip
    return json.dumps({"ambiguous_question": "Rather a few of them.", "layers": asked})


@pytest.fixture
def planned(anchor: AnchorQuery) -> AnchorQuery:
    """The anchor with a second drift after the one at its LIMIT: another region."""
    later = TreeDrift(label=DriftLabel(subtype="value"), sql=SOUTH, what="region = 'east'")
    drifts = tuple(structs.replace(each, later=(later,)) for each in anchor.drifts)
    return structs.replace(anchor, drifts=drifts)


async def test_a_chain_that_a_drift_opens_is_made_of_its_turn_and_a_second_drift_of_the_query_after_it(
    planned: AnchorQuery, build: Build
) -> None:
    second = json.dumps(
        {"drift_utterance": "In the south.", "post_drift_sql": f"{SOUTH} LIMIT 2", "fine_subtype": None}
    )
    speakers = {
        "maker": scripted(drift_answers()["passes"], deeper_chain(None, "transformed", "eliminated"), second),
        **{judge: one_by_one(chain_opinion(verdict="transformed", counterfactual="So?")) for judge in JUDGES},
        "drift judge 1": one_by_one(drift_opinion()),
        "drift judge 2": one_by_one(drift_opinion()),
    }
    sources = Sources(evidence="rules", judges=JUDGES, drift_judges=("drift judge 1", "drift judge 2"), design=DEEPER)
    record, context = await build(planned, sources, speakers)
    both = ["drift judge 1", "drift judge 2"]
    assert [model for model, _ in context.prompts] == ["maker", *both, "maker", *JUDGES, *JUDGES, "maker", *both]
    assert list(record.stages) == ["drift", "chain", "evidence", "drift 2"]
    chain, later = context.prompts[3][1], context.prompts[8][1]
    assert "calls for 3 clarifications" in chain[0].content
    said = sections(chain)
    assert said["What was asked before"] == planned.question
    assert said["Question"] == "Rather two of them."
    assert "LIMIT 2" in said["Query"]
    assert sections(later)["Question"] == f"{planned.question}\nRather two of them."
    assert "LIMIT 2" in sections(later)["Query"]
    triplet = triplet_of(record)
    assert triplet.shape == (0, 3, 0)
    assert [stage.utterance for stage in triplet.stages] == [planned.question, "Rather two of them.", "In the south."]
    assert triplet.stages[1].ambiguous == "Rather a few of them."
    assert [stage.drift and stage.drift.subtype for stage in triplet.stages] == [None, "projection", "value"]
    assert [sample.kind for sample in samples_of(triplet)] == ["drift", "joint"]


async def test_every_layer_is_judged_against_the_one_before_it_and_has_a_verdict_of_its_own(
    anchor: AnchorQuery, build: Build
) -> None:
    """Both judges overrule the generator on L3 alone."""
    opinions = [chain_opinion(), chain_opinion(verdict="transformed", counterfactual="What then?")]
    speakers = {
        "maker": scripted(deeper_chain(None, "eliminated", "eliminated")),
        **{judge: scripted(*opinions) for judge in JUDGES},
    }
    sources = Sources(evidence="rules", drift="tree", judges=JUDGES, design=Design(depth=3))
    record, context = await build(anchor, sources, speakers)
    verdicts = [(layer.label, layer.verdict, layer.counterfactual) for layer in record.pieces.layers]
    assert verdicts == [("L1", None, ""), ("L2", "eliminated", ""), ("L3", "transformed", "What then?")]
    shown = [sections(messages) for model, messages in context.prompts if model == JUDGES[0]]
    pairs = [[json.loads(line)["layer"] for line in each["Layers"].splitlines()] for each in shown]
    assert pairs == [["L1", "L2"], ["L2", "L3"]]
    assert ["What was clarified" in each for each in shown] == [False, True]
    assert "Answer 1." in shown[1]["What was clarified"]
    assert [vote.layer for vote in record.stages["chain"].last.votes] == ["L2", "L2", "L3", "L3"]


@pytest.mark.parametrize(
    ("verdicts", "detail"),
    [
        ((None, "eliminated"), "it has 2 layers instead of 3"),
        ((None, "eliminated", None), "L3 lacks its verdict"),
        (("eliminated", "eliminated", "eliminated"), "L1 has a verdict"),
    ],
)
async def test_a_chain_of_another_depth_or_without_a_verdict_is_no_chain(
    verdicts: tuple[str | None, ...], detail: str, anchor: AnchorQuery, build: Build
) -> None:
    sources = Sources(evidence="rules", drift="tree", attempts=1, design=Design(depth=3))
    record, _ = await build(anchor, sources, {"maker": scripted(deeper_chain(*verdicts))})
    assert (record.stages["chain"].last.signal, record.stages["chain"].last.detail) == ("json_format", detail)


async def test_a_layer_far_down_that_does_not_depend_is_invariant(anchor: AnchorQuery, build: Build) -> None:
    draft = json.loads(deeper_chain(None, "eliminated", "transformed"))
    draft["layers"][2]["counterfactual"] = "question  3?"
    sources = Sources(evidence="rules", drift="tree", attempts=1, design=Design(depth=3))
    record, _ = await build(anchor, sources, {"maker": scripted(json.dumps(draft))})
    assert record.stages["chain"].last.signal == "invariant"
    opinions = [chain_opinion(), chain_opinion(verdict="invariant")]
    speakers = {
        "maker": scripted(deeper_chain(None, "eliminated", "eliminated")),
        **{judge: scripted(*opinions) for judge in JUDGES},
    }
    sources = Sources(evidence="rules", drift="tree", judges=JUDGES, attempts=1, design=Design(depth=3))
    record, _ = await build(anchor, sources, speakers)
    assert record.stages["chain"].last.signal == "counterfactuality"


async def test_trees_and_files_serve_every_drift_of_a_design(planned: AnchorQuery, build: Build) -> None:
    design = Design(drifts=2)
    by_tree, _ = await build(planned, Sources(chain="none", drift="tree", design=design), {})
    assert [drift.sql for drift in by_tree.pieces.drifts] == [drift.sql for drift in planned.planned]
    pieces = by_query((triplet_of(by_tree),))
    from_file = Sources(chain="none", drift="file", files={"drift": pieces}, design=design)
    by_file, _ = await build(planned, from_file, {})
    assert by_file.pieces == by_tree.pieces
    further = Sources(chain="none", drift="file", files={"drift": pieces}, design=Design(drifts=3))
    record, _ = await build(planned, further, {})
    assert record.dropped is not None
    assert (record.dropped[0], record.dropped[1].signal) == ("drift 3", "not_in_file")

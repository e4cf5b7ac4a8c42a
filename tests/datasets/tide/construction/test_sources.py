"""Where the parts of a triplet come from: models, rules, trees, files and templates."""

from __future__ import annotations

import json
import random

from turntide.datasets import synthetic
from turntide.datasets.tide.construction.anchors import AnchorQuery
from turntide.datasets.tide.construction.assembly import assembled, triplet_of
from turntide.datasets.tide.construction.questions import load_questions
from turntide.datasets.tide.construction.reader import Tester
from turntide.datasets.tide.construction.record import read_record
from turntide.datasets.tide.construction.selection import select
from turntide.datasets.tide.construction.settings import Sources, by_query
from turntide.datasets.tide.embedded import embedded_triplets
from turntide.datasets.tide.files import dump_triplets, load_triplets
from turntide.datasets.tide.samples import samples_of

from ....support.tide import Databases, DirectContext, one_by_one, scripted
from .conftest import JUDGES, Build, chain_answer, chain_opinion, drift_answers, drift_opinion, opened

TREE = Sources(evidence="rules", drift="tree")


async def test_a_triplet_says_which_call_made_each_part_and_what_it_passed(anchor: AnchorQuery, build: Build) -> None:
    sources = Sources(judges=JUDGES, drift_judges=JUDGES, rewriter=True, tester=True)
    speakers = {
        "maker": scripted("no", chain_answer(), drift_answers()["passes"]),
        "rewriter": scripted(json.dumps({"evidence": "first refers to the lowest id"})),
        "tester": one_by_one(json.dumps({"sql": anchor.sql})),
        **{judge: scripted(chain_opinion(), drift_opinion()) for judge in JUDGES},
    }
    record, context = await build(anchor, sources, speakers)
    triplet = triplet_of(record)
    assert [model for model, _ in context.prompts] == [
        "maker", "maker", *JUDGES, "rewriter", "tester", "tester", "tester", "maker", *JUDGES
    ]  # fmt: skip
    assert record.rebuilt == {"A": True, "B": True, "C": True}
    assert triplet.provenance == {
        "anchor": "dev question shop-dev-1",
        "chain": "maker, call maker/shop-dev-1/0 step 1, attempt 2",
        "evidence": "rewriter, call maker/shop-dev-1/0 step 4, attempt 1",
        "drift": "maker, call maker/shop-dev-1/0 step 11, attempt 1",
        "checks": "all eight of Table 7",
        "chain_judges": "; ".join(
            f"{judge} (step {step}) passes plausibility, re_ask, counterfactuality, L2 eliminated"
            for judge, step in zip(JUDGES, (2, 3), strict=True)
        ),
        "drift_judges": "; ".join(
            f"{judge} (step {step}) passes drift_fit, stability" for judge, step in zip(JUDGES, (13, 14), strict=True)
        ),
    }
    assert [len(layer.nodes) for layer in triplet.layers] == [1, 1]
    assert triplet.rewritten_evidence == "first refers to the lowest id"
    assert [sample.kind for sample in samples_of(triplet)] == ["chain", "drift", "joint"]


async def test_rules_drop_the_clauses_that_speak_of_a_layer_and_a_leak_is_asked_for_again(
    anchor: AnchorQuery, build: Build
) -> None:
    record, _ = await build(anchor, TREE, {"maker": scripted(chain_answer())})
    assert record.pieces.evidence == "the east refers to region = 'east'"
    leaks = json.dumps({"evidence": "it is by number, the region called East"})
    speakers = {"maker": scripted(chain_answer(), leaks, "x", json.dumps({"evidence": ""}))}
    record, _ = await build(anchor, Sources(drift="tree"), speakers)
    assert [attempt.signal for attempt in record.stages["evidence"].attempts] == ["leaks_answer", "json_format", ""]


async def test_a_tree_says_what_it_retracts_in_plain_words(anchor: AnchorQuery, build: Build) -> None:
    record, context = await build(anchor, Sources(chain="none", drift="tree"), {})
    assert context.prompts == []
    assert record.pieces.drifts[0].utterance == "Let me change what I get. Leave this out: at most 1 rows."
    assert [sample.kind for sample in samples_of(triplet_of(record))] == ["drift"]


async def test_a_file_serves_any_stage_by_the_query_of_its_anchor(anchor: AnchorQuery, build: Build) -> None:
    made, _ = await build(anchor, TREE, {"maker": scripted(chain_answer())})
    pieces = by_query(assembled([made], "some").triplets)
    files = {"chain": pieces, "evidence": pieces, "drift": pieces}
    from_files = Sources(chain="file", evidence="file", drift="file", files=files)
    record, _ = await build(anchor, from_files, {})
    assert {name: stage.source for name, stage in record.stages.items()} == dict.fromkeys(files, "file")
    assert triplet_of(record).content_key == triplet_of(made).content_key
    record, _ = await build(anchor, Sources(chain="file", files={"chain": {}}), {})
    assert record.dropped is not None
    assert record.dropped[1].signal == "not_in_file"


async def test_of_an_anchor_that_two_records_completed_the_first_counts(anchor: AnchorQuery, build: Build) -> None:
    one, _ = await build(anchor, Sources(chain="none", drift="tree"), {})
    other, _ = await build(anchor, TREE, {"maker": scripted(chain_answer())})
    file = assembled([other, one], "both")
    assert [bool(triplet.layers) for triplet in file.triplets] == [True]
    assert dump_triplets(file) == dump_triplets(assembled([other, one], "both"))


async def test_a_template_serves_its_own_questions_and_the_dialogue_is_needed_to_rebuild_their_queries() -> None:
    """Conditions A and B of Table 8 hold by what the prompts say; the tester can only guess under C."""
    triplets = [t for t in load_triplets(embedded_triplets()).triplets if t.database == "superhero"][:6]
    place = {"superhero": synthetic.ensure("superhero")}
    questions = [each for each in load_questions(embedded_triplets()) if each.id in {t.id for t in triplets}]
    anchors, selection = select(questions, place)
    databases = Databases(place)
    tester = Tester()
    rebuilt: list[tuple[bool, bool, bool]] = []
    for anchor, triplet in zip(anchors, triplets, strict=True):
        sources = Sources(chain="template", evidence="rules", drift="tree", tester=True)
        experiment = opened(anchor, selection, sources, place)
        [[(unit,)]] = experiment.lanes("maker", 1)
        context = DirectContext(unit, databases, {"tester": lambda m: tester.answer(m, {}, random.Random(0))})
        await experiment.dialogue(unit, context)
        record = read_record(context.records[0])
        assert record.pieces.layers == triplet.layers
        assert record.pieces.evidence == triplet.rewritten_evidence
        rebuilt.append((record.rebuilt["A"], record.rebuilt["B"], record.rebuilt["C"]))
    databases.close()
    assert {both[:2] for both in rebuilt} == {(True, True)}
    assert not all(alone for *_, alone in rebuilt)

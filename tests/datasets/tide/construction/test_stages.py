from __future__ import annotations

import json
import random
import tomllib

import pytest
from msgspec import structs
from turntide.adapters.base import Answer
from turntide.datasets import synthetic
from turntide.datasets.tide.checks import SIGNALS
from turntide.datasets.tide.construction.anchors import AnchorQuery, TreeDrift
from turntide.datasets.tide.construction.assembly import assembled, triplet_of
from turntide.datasets.tide.construction.questions import load_questions
from turntide.datasets.tide.construction.reader import Tester, sections
from turntide.datasets.tide.construction.record import read_record
from turntide.datasets.tide.construction.selection import select
from turntide.datasets.tide.construction.settings import Sources, by_query
from turntide.datasets.tide.design import Design
from turntide.datasets.tide.embedded import embedded_triplets
from turntide.datasets.tide.files import dump_triplets, load_triplets
from turntide.datasets.tide.samples import DriftLabel, samples_of

from ....support.cases import FIXTURES
from ....support.tide import Databases, DirectContext, one_by_one, scripted
from .conftest import Build, chain_answer, chain_opinion, drift_answers, drift_opinion, opened

TREE = Sources(evidence="rules", drift="tree")
JUDGES = ("judge 1", "judge 2")


async def test_each_signal_of_table_7_is_reported_in_its_order_and_told_to_the_generator(
    anchor: AnchorQuery, build: Build
) -> None:
    answers = drift_answers()
    sources = Sources(chain="none", attempts=len(answers))
    record, context = await build(anchor, sources, {"maker": scripted(*answers.values())})
    attempts = record.stages["drift"].attempts
    assert tuple(attempt.signal for attempt in attempts) == (*SIGNALS, "")
    assert record.complete
    last = [message.content for message in context.prompts[-1][1]]
    assert [f"That does not do: {signal}." in said for signal, said in zip(SIGNALS, last[3::2], strict=True)] == [
        True
    ] * 9


async def test_a_generator_that_never_does_better_drops_its_anchor_after_its_attempts(
    anchor: AnchorQuery, build: Build
) -> None:
    sources = Sources(chain="none", attempts=2)
    record, context = await build(anchor, sources, {"maker": one_by_one(drift_answers()["monotonic"])})
    assert record.dropped is not None
    assert (record.dropped[0], record.dropped[1].signal, len(context.prompts)) == ("drift", "monotonic", 2)
    assert not record.stages["drift"].checked
    assert assembled([record], "none").triplets == ()


RULES = tomllib.loads((FIXTURES / "tide" / "build_chains.toml").read_text())


@pytest.mark.parametrize("signal", RULES)
async def test_a_chain_that_breaks_a_rule_meets_no_judge(signal: str, anchor: AnchorQuery, build: Build) -> None:
    sources = Sources(evidence="rules", drift="tree", judges=JUDGES, attempts=1)
    record, context = await build(anchor, sources, {"maker": scripted(chain_answer(**RULES[signal]))})
    assert [attempt.signal for attempt in record.stages["chain"].attempts] == [signal.strip()]
    assert [model for model, _ in context.prompts] == ["maker"]


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


async def test_both_judges_must_pass_and_each_is_asked_by_itself(anchor: AnchorQuery, build: Build) -> None:
    sources = Sources(evidence="rules", drift="tree", judges=JUDGES, attempts=2)
    speakers = {
        "maker": one_by_one(chain_answer()),
        "judge 1": scripted(chain_opinion(re_ask=False, verdict="invariant"), chain_opinion()),
        "judge 2": scripted(chain_opinion(), chain_opinion()),
    }
    record, context = await build(anchor, sources, speakers)
    first, second = record.stages["chain"].attempts
    assert (first.signal, second.signal) == ("re_ask", "")
    assert [vote.accepts for vote in first.votes] == [False, True]
    asked = [messages for model, messages in context.prompts if model.startswith("judge")]
    assert asked[0] == asked[1]
    assert not any(word in asked[0][1].content for word in ("eliminated", "transformed"))


async def test_a_judge_that_gives_no_judgement_is_asked_twice_and_costs_no_further_attempt(
    anchor: AnchorQuery, build: Build
) -> None:
    sources = Sources(evidence="rules", drift="tree", judges=JUDGES, attempts=3)
    speakers = {
        "maker": one_by_one(chain_answer()), "judge 1": scripted("hm", "hm"), "judge 2": scripted("hm", chain_opinion())
    }  # fmt: skip
    record, context = await build(anchor, sources, speakers)
    assert record.dropped is not None
    assert record.dropped[1].signal == "no_judgement"
    assert [model for model, _ in context.prompts] == ["maker", "judge 1", "judge 1", "judge 2", "judge 2"]


@pytest.mark.parametrize(
    ("claimed", "votes", "settled"),
    [
        ("eliminated", ("eliminated", "transformed"), ("eliminated", "")),
        ("eliminated", ("transformed", "transformed"), ("transformed", "And over which river?")),
        ("transformed", ("eliminated", "eliminated"), ("eliminated", "")),
        ("transformed", ("eliminated", "transformed"), ("transformed", "Which river?")),
    ],
)
async def test_the_verdict_is_that_of_most(
    claimed: str, votes: tuple[str, str], settled: tuple[str, str], anchor: AnchorQuery, build: Build
) -> None:
    draft = chain_answer(verdict=claimed, counterfactual="Which river?" if claimed == "transformed" else "")
    said = [
        chain_opinion(verdict=vote, counterfactual="And over which river?" if vote == "transformed" else "")
        for vote in votes
    ]
    speakers = {"maker": scripted(draft), **{judge: scripted(each) for judge, each in zip(JUDGES, said, strict=True)}}
    record, _ = await build(anchor, Sources(evidence="rules", drift="tree", judges=JUDGES), speakers)
    second = record.pieces.layers[1]
    assert (second.verdict, second.counterfactual) == settled


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


async def test_a_refused_or_cut_answer_is_no_candidate(anchor: AnchorQuery, build: Build) -> None:
    cut = Answer(text=drift_answers()["passes"], model="maker", usage=None, finish="length")
    record, _ = await build(anchor, Sources(chain="none", attempts=1), {"maker": one_by_one(cut)})
    assert record.dropped is not None
    assert record.dropped[1].signal == "json_format"
    refused = Answer(text=chain_answer(), model="maker", usage=None, finish="refused")
    record, _ = await build(anchor, Sources(attempts=1), {"maker": one_by_one(refused)})
    assert record.stages["chain"].last.detail == "it is a refusal"
    halves = chain_answer(counterfactual="x\ud800", verdict="transformed")
    record, _ = await build(anchor, Sources(attempts=1), {"maker": one_by_one(halves)})
    assert record.stages["chain"].last.detail == "layers[1].counterfactual holds half a character"


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

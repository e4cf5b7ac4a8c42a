"""What passes of a generator's attempts: by the checks, the rules and the judges."""

from __future__ import annotations

import tomllib

import pytest
from turntide.adapters.base import Answer
from turntide.datasets.tide.checks import SIGNALS
from turntide.datasets.tide.construction.anchors import AnchorQuery
from turntide.datasets.tide.construction.assembly import assembled
from turntide.datasets.tide.construction.settings import Sources

from ....support.cases import FIXTURES
from ....support.tide import one_by_one, scripted
from .conftest import JUDGES, Build, chain_answer, chain_opinion, drift_answers


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


RULES = tomllib.loads((FIXTURES / "tide" / "build_chains.toml").read_text())


@pytest.mark.parametrize("signal", RULES)
async def test_a_chain_that_breaks_a_rule_meets_no_judge(signal: str, anchor: AnchorQuery, build: Build) -> None:
    sources = Sources(evidence="rules", drift="tree", judges=JUDGES, attempts=1)
    record, context = await build(anchor, sources, {"maker": scripted(chain_answer(**RULES[signal]))})
    assert [attempt.signal for attempt in record.stages["chain"].attempts] == [signal.strip()]
    assert [model for model, _ in context.prompts] == ["maker"]


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

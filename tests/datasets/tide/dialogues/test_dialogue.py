"""What a dialogue does: order of turns, drift, retries, limits, and what the agent gets to see (§4.1, Appendix D)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from turntide.adapters.base import Answer, Message
from turntide.datasets.tide.actions import Clarify, Query
from turntide.datasets.tide.experiment import TideExperiment
from turntide.datasets.tide.samples import Sample
from turntide.datasets.tide.simulator import rules
from turntide.datasets.tide.simulator.situation import LONGEST, UNA, Situation, Target
from turntide.datasets.tide.words import words

from ....support.tide import DirectContext, one_by_one, scripted
from .conftest import Talk

PRE = "SELECT COUNT(*) FROM sale WHERE amount > 100 AND kind = 'web'"
POST = "SELECT COUNT(*) FROM sale WHERE amount > 100 AND kind = 'phone'"
L1, L2 = "Is a sale big by its amount, or by the crowd on its day?", "Above a hundred, or among the top ten?"


def asks(question: str) -> str:
    return Clarify(question).to_json()


def gives(sql: str) -> str:
    return Query(sql).to_json()


async def test_a_joint_dialogue_goes_through_both_layers_and_the_drift(talk: Talk) -> None:
    record = await talk("value:joint", scripted(asks(L1), asks(L2), gives(PRE), gives(POST)))
    assert record.ending == "complete"
    assert [asked.rho for asked in record.asked] == ["L1", "L2"]
    assert [asked.reply for asked in record.asked] == ["By its amount.", "Above a hundred."]
    assert [(query.stage, query.turn, query.agree["multiset"], query.step) for query in record.queried] == [
        (0, 3, True, None),
        (1, 4, True, "value"),
    ]


async def test_chain_only_ends_at_the_first_query_right_or_not(talk: Talk) -> None:
    record = await talk("value:chain", scripted(gives("SELEC"), gives(PRE)))
    assert (record.ending, record.turns, len(record.queried)) == ("complete", 1, 1)
    assert record.queried[0].status == "syntax"


async def test_the_drift_turn_comes_verbatim_after_the_first_query_even_an_invalid_one(
    experiment: TideExperiment, context: Callable[..., DirectContext], few: dict[str, Sample]
) -> None:
    ctx = context("value:drift", agent=scripted(gives("SELEC"), gives(POST)))
    await experiment.dialogue(ctx.unit, ctx)
    (_, first), (_, second) = ctx.prompts
    assert first[-1] == Message("user", few["value:drift"].triplet.question)
    assert second[:-2] == first
    assert second[-2:] == [
        Message("assistant", gives("SELEC")),
        Message("user", "Actually, take the phone sales instead."),
    ]


async def test_the_agent_sees_ddl_rewritten_evidence_and_history_and_never_a_result(
    experiment: TideExperiment, context: Callable[..., DirectContext]
) -> None:
    ctx = context("value:joint", agent=scripted(asks(L1), gives("SELECT 4711"), gives(POST)))
    await experiment.dialogue(ctx.unit, ctx)
    system = ctx.prompts[0][1][0]
    assert "CREATE TABLE sale" in system.content
    assert "## Evidence\nregion is where the shop stands" in system.content
    assert "big sale has an amount" not in system.content
    everything = "\n".join(message.content for _, prompt in ctx.prompts for message in prompt[1:])
    assert everything.count("4711") == 1  # its own query, once, in the last prompt
    assert "## Evidence" not in everything


async def test_clarifications_are_answered_after_the_drift_too(talk: Talk) -> None:
    record = await talk("value:joint", scripted(gives(PRE), asks(L1), asks(L2), gives(POST)))
    assert [(asked.stage, asked.rho) for asked in record.asked] == [(1, "L1"), (1, "L2")]
    assert record.ending == "complete"


async def test_after_the_drift_details_are_those_of_the_gold_that_is_right_now(talk: Talk) -> None:
    question = asks("Only web sales or phone sales, of which kind of sales?")
    before = await talk("value:drift", scripted(question, gives(PRE), gives(POST)))
    after = await talk("value:drift", scripted(gives(PRE), question, gives(POST)))
    assert "web" in before.asked[0].reply
    assert "phone" in after.asked[0].reply


async def test_a_malformed_answer_is_met_once_and_only_the_good_one_enters_the_history(
    experiment: TideExperiment, context: Callable[..., DirectContext]
) -> None:
    ctx = context("value:drift", agent=scripted("Well...", gives(PRE), gives(POST)))
    await experiment.dialogue(ctx.unit, ctx)
    first, again, after = (prompt for _, prompt in ctx.prompts)
    assert again == [*first, Message("assistant", "Well..."), Message("user", words().agent.note.strip())]
    assert [message.content for message in after[1:]][1] == gives(PRE)
    assert "Well..." not in str(after)
    (record,) = ctx.records
    assert (record["retries"], record["turns"], record["ending"]) == (1, 2, "complete")


async def test_every_turn_has_a_retry_of_its_own(talk: Talk) -> None:
    record = await talk("value:drift", scripted("no", gives(PRE), "", gives(POST)))
    assert (record.ending, record.retries) == ("complete", 2)


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        ("still prose", "abstained"),
        ("", "abstained"),
        (Answer(text='{"action": "sql", "sql": "SEL', model="agent", usage=None, finish="length"), "cut"),
        (Answer(text="", model="agent", usage=None, finish="refused", detail="content_filter"), "refused"),
    ],
)
async def test_two_answers_that_are_no_action_end_the_dialogue(talk: Talk, last: Answer | str, ending: str) -> None:
    record = await talk("value:joint", one_by_one("prose", last))
    assert (record.ending, record.turns, record.queried) == (ending, 0, ())


async def test_a_cut_answer_that_is_whole_counts(talk: Talk) -> None:
    whole = Answer(text=gives(PRE), model="agent", usage=None, finish="length")
    assert (await talk("value:chain", one_by_one(whole))).ending == "complete"


async def test_twenty_turns_end_it_and_retries_are_no_turns(talk: Talk) -> None:
    record = await talk("value:chain", one_by_one("prose", asks(L1)))
    assert (record.ending, record.turns, record.retries, len(record.asked)) == ("turn_limit", 20, 20, 20)


async def test_a_query_in_the_last_turn_still_counts(talk: Talk) -> None:
    answers = [*[asks(L1)] * 19, gives(PRE)]
    assert (await talk("value:chain", scripted(*answers))).ending == "complete"
    joint = await talk("value:joint", scripted(*answers))
    assert (joint.ending, len(joint.queried)) == ("turn_limit", 1)


async def test_the_p_protocol_begins_with_the_first_layer_resolved_in_the_agents_own_form(
    experiment: TideExperiment, context: Callable[..., DirectContext]
) -> None:
    ctx = context("value:joint", "p", agent=scripted(asks(L2), gives(PRE), gives(POST)))
    await experiment.dialogue(ctx.unit, ctx)
    (_, first), *_ = ctx.prompts
    assert [message.content for message in first[1:]] == ["How many web sales are big?", asks(L1), "By its amount."]
    (record,) = ctx.records
    assert [asked["rho"] for asked in record["asked"]] == ["L2"]  # the synthetic exchange counts for nothing
    assert record["turns"] == 3


def test_the_p_protocol_takes_samples_that_leave_a_layer_open(experiment: TideExperiment) -> None:
    units = [unit for lane in experiment.lanes("agent", 1) for step in lane for unit in step]
    primed = {unit.item for unit in units if unit.labels["protocol"] == "p"}
    assert primed == {"value:chain", "value:joint", "deeper:chain", "deeper:joint", "later-chain:joint"}
    assert len(units) == len(primed) + 8


async def test_where_a_drift_opens_the_chain_the_p_protocol_resolves_the_first_layer_after_the_drift_turn(
    experiment: TideExperiment, context: Callable[..., DirectContext], few: dict[str, Sample]
) -> None:
    before, after = few["later-chain:joint"].golds
    second = "The boss alone, or everyone up the line?"
    ctx = context("later-chain:joint", "p", agent=scripted(gives(before), asks(second), gives(after)))
    await experiment.dialogue(ctx.unit, ctx)
    (_, first), (_, following), _ = ctx.prompts
    assert [message.content for message in first[1:]] == ["How old is Ann?"]
    assert [message.content for message in following[3:]] == [
        "No, show who is above her.", asks("Above in rank, or in age?"), "In rank."
    ]  # fmt: skip
    (record,) = ctx.records
    assert [(asked["stage"], asked["rho"]) for asked in record["asked"]] == [(1, "L2")]
    assert [query["stage"] for query in record["queried"]] == [0, 1]
    expected = [json.loads(action)["action"] for action in experiment.expected(ctx.unit)]
    assert expected == ["sql", "clarify", "sql"]


async def test_a_deeper_chain_with_two_drifts(talk: Talk, few: dict[str, Sample]) -> None:
    sample = few["deeper:joint"]
    questions = [asks(layer.question) for layer in sample.layers]
    record = await talk("deeper:joint", scripted(*questions, *map(gives, sample.golds)))
    assert [asked.rho for asked in record.asked] == ["L1", "L2", "L3"]
    assert [(query.stage, query.step) for query in record.queried] == [(0, None), (1, "constraint"), (2, "projection")]
    assert all(query.agree["multiset"] for query in record.queried)


async def test_a_chain_that_a_drift_opens_is_open_only_then(talk: Talk, few: dict[str, Sample]) -> None:
    sample = few["later-chain:joint"]
    first, second = (asks(layer.question) for layer in sample.layers)
    record = await talk(
        "later-chain:joint", scripted(first, gives(sample.golds[0]), second, first, second, gives(sample.golds[1]))
    )
    assert [(asked.stage, asked.rho) for asked in record.asked] == [(0, "Other"), (1, "Other"), (1, "L1"), (1, "L2")]
    assert (record.ending, record.queried[1].step) == ("complete", "projection")


async def test_an_unparsable_query_leaves_nothing_to_compare(talk: Talk) -> None:
    after = await talk("value:drift", scripted(gives(PRE), gives("SELECT FROM WHERE")))
    before = await talk("value:drift", scripted(gives("DELETE FROM sale"), gives(POST)))
    assert [record.queried[1].step for record in (after, before)] == ["unparsable", "unparsable"]


async def test_gold_given_by_a_perfect_agent_is_right_in_every_sample(experiment: TideExperiment, talk: Talk) -> None:
    for lane in experiment.lanes("agent", 1):
        for step in lane:
            for unit in step:
                expected: Sequence[str] = list(experiment.expected(unit))
                record = await talk(unit.item, scripted(*expected), unit.labels["protocol"])
                assert record.ending == "complete"
                assert record.turns == len(expected) == unit.turns
                assert all(query.agree["multiset"] for query in record.queried)


async def test_a_question_without_end_is_taken_in_up_to_a_bound_and_recorded_whole(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[Situation] = []

    def seen(situation: Situation) -> Target:
        looked_at.append(situation)
        return Target(UNA)

    monkeypatch.setattr(rules, "route", seen)
    question = "How do you mean that? " * 10_000
    record = await talk("value:chain", scripted(asks(question), asks(L1), gives(PRE)))
    assert [len(asked.question) for asked in record.asked] == [len(question.strip()), len(L1)]
    assert [len(situation.question) for situation in looked_at] == [LONGEST, len(L1)]
    assert max(len(said.text) for situation in looked_at for said in situation.conversation) == LONGEST

"""The simulated user: what is routed where, what may be said, and what happens when it fails (Appendix E)."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from turntide.adapters.base import Answer, Message
from turntide.datasets.tide.desk import Desk
from turntide.datasets.tide.experiment import TideExperiment
from turntide.datasets.tide.metrics import scored
from turntide.datasets.tide.reader.user import UserReader
from turntide.datasets.tide.record import DialogueRecord, read_record
from turntide.datasets.tide.samples import Sample
from turntide.datasets.tide.simulator.annotation import annotation
from turntide.datasets.tide.simulator.model import generator_prompt, router_prompt
from turntide.datasets.tide.simulator.probes import probes
from turntide.datasets.tide.simulator.rules import route, say
from turntide.datasets.tide.simulator.situation import Said, Situation, Target, admitted
from turntide.datasets.tide.simulator.user import REGENERATIONS
from turntide.datasets.tide.simulator.validator import distinctive, problem_with
from turntide.datasets.tide.words import words

from ....support.tide import Databases, DirectContext, Speaker, scripted

ASKS = '{"action": "clarify", "question": "%s"}'
GIVES = '{"action": "sql", "sql": "SELECT 1"}'
AMOUNT = "WHERE sale.amount > ?"
KIND = "WHERE sale.kind = ?"


@pytest.fixture
def situation(few: dict[str, Sample], experiment: TideExperiment) -> Situation:
    """An open joint sample, and a question about its first layer."""
    sample = few["value:joint"]
    desk = Desk("shop", experiment.databases["shop"])
    return Situation(
        question="Is a sale big by its amount, or by the crowd on its day?",
        conversation=[Said("user", sample.utterances[0])],
        layers=sample.layers,
        resolved=frozenset(),
        nodes=desk.nodes(sample.stages[0]),
    )


def test_a_layer_counts_only_when_all_before_it_are_resolved(few: dict[str, Sample], situation: Situation) -> None:
    chain = few["deeper:joint"].layers
    for resolved, admitted_to in (((), "L1"), (("L1",), "L2"), (("L1", "L2"), "L3")):
        at = replace(situation, layers=chain, resolved=frozenset(resolved))
        aims = [admitted(Target(layer.label), at).aim for layer in chain]
        assert aims == [layer.label if layer.label <= admitted_to else "Loc" for layer in chain]


def test_what_an_open_layer_settles_is_told_by_no_other_question(situation: Situation) -> None:
    withheld = Target("Loc", withheld=True)
    for early in (Target("L2"), Target("L2", AMOUNT), Target("L2", KIND), Target("Loc", AMOUNT)):
        assert admitted(early, situation) == withheld
    assert withheld.rho == "Other"
    assert admitted(Target("Loc", KIND), situation) == Target("Loc", KIND)
    first = replace(situation, resolved=frozenset({"L1"}))
    assert admitted(Target("L2", AMOUNT), first) == Target("L2", AMOUNT)
    assert admitted(Target("Loc", AMOUNT), first) == withheld
    both = replace(situation, resolved=frozenset({"L1", "L2"}))
    assert admitted(Target("Loc", AMOUNT), both) == Target("Loc", AMOUNT)
    assert say(situation, withheld) == words().rules.withheld
    _, prompt = generator_prompt(situation, withheld, ())
    assert words().generator.withheld in prompt.content
    assert "hundred" not in prompt.content


def test_a_question_about_both_layers_counts_as_the_first(situation: Situation) -> None:
    both = replace(
        situation, question="Big by its amount or by the crowd on its day, above a hundred or in the top ten?"
    )
    assert route(both).aim == "L1"
    assert route(situation).aim == "L1"
    assert route(replace(situation, question="Above a hundred, or among the top ten?")).aim == "L2"


def test_the_router_is_told_which_layers_are_answered_and_the_details_by_number(situation: Situation) -> None:
    _, prompt = router_prompt(replace(situation, resolved=frozenset({"L1"})))
    points = [json.loads(line) for line in prompt.content.splitlines() if line.startswith("{")]
    assert [(point["point"], point["state"]) for point in points] == [("L1", "answered"), ("L2", "open")]
    assert "2. only sales above a hundred" in prompt.content
    assert "kind = 'web'" not in prompt.content  # details in words, not in SQL


def test_the_generator_sees_one_annotation_and_nothing_else_of_the_gold(situation: Situation) -> None:
    _, prompt = generator_prompt(situation, Target("Loc", KIND), ())
    assert "only web sales" in prompt.content
    assert "hundred" not in prompt.content
    _, prompt = generator_prompt(situation, Target("L1"), ())
    assert "By its amount." in prompt.content
    assert not {"hundred", "only web sales"} & set(prompt.content.splitlines())


def test_every_annotation_of_the_fixtures_passes_the_validator(
    few: dict[str, Sample], experiment: TideExperiment
) -> None:
    desk = Desk("shop", experiment.databases["shop"])
    for sample in few.values():
        for stage in sample.stages:
            nodes = desk.nodes(stage)
            at = Situation(question="So?", conversation=(), layers=sample.layers, resolved=frozenset(), nodes=nodes)
            targets = [*(Target(layer.label) for layer in sample.layers), *(Target("Loc", n.label) for n in nodes)]
            for target in (*targets, Target("Loc"), Target("Una")):
                assert problem_with(say(at, target), at, target, desk.identifiers) is None, (sample.id, target)


SAYINGS = [
    ("By its amount.", None),
    ("I count the web sales, I would say.", None),
    ("Please select the web sales from the list.", None),
    ("", "is empty"),
    ("word " * 200, "is too long"),
    ("Use WHERE amount > 100.", "holds SQL"),
    ("amount > 100", "holds SQL"),
    ("That would be count(id).", "holds SQL"),
    ("It is in `sale`.", "holds SQL"),
    ("select id from sale where it is big", "holds SQL"),
    ("The shop_id decides.", "names 'shop_id'"),
    ("Look at sale.amount for that.", "names 'sale.amount'"),
    ("By its amount, above 100.", "tells '100'"),
]


@pytest.mark.parametrize(("text", "problem"), SAYINGS, ids=[text[:30] for text, _ in SAYINGS])
def test_the_validator_screens_sql_names_and_values(situation: Situation, text: str, problem: str | None) -> None:
    at = replace(situation, question="By what?", conversation=[Said("user", "How many web sales are big?")])
    found = problem_with(text, at, Target("L1"), {"shop_id", "boss_id"})
    assert found is None if problem is None else found is not None and found.startswith(problem)


def test_what_the_analyst_or_the_user_said_is_in_scope(situation: Situation) -> None:
    asked = replace(situation, question="Above 100, by shop_id?")
    assert problem_with("Above 100, yes, by shop_id.", asked, Target("L1"), {"shop_id"}) is None


def test_plain_words_are_no_distinctive_names() -> None:
    assert distinctive(["amount", "Country", "Order Details", "k_symbol", "A11", "CompanyName", "DATE"]) == {
        "k_symbol",
        "A11",
        "CompanyName",
    }


class Played:
    """A dialogue in which a model plays the user."""

    def __init__(self, experiment: TideExperiment, databases: Databases) -> None:
        self._experiment = experiment
        self._databases = databases

    async def talk(self, user: Speaker, sample: str = "value:chain") -> tuple[DialogueRecord, DirectContext]:
        units = (unit for lane in self._experiment.lanes("agent", 1) for step in lane for unit in step)
        unit = next(each for each in units if each.item == sample)
        agent = scripted(ASKS % "By its amount?", GIVES, GIVES)
        ctx = DirectContext(unit, self._databases, {"agent": agent, "user": user})
        await self._experiment.dialogue(unit, ctx)
        return read_record(ctx.records[0]), ctx


@pytest.fixture
def played(with_model: TideExperiment, databases: Databases) -> Played:
    return Played(with_model, databases)


async def test_router_and_generator_are_two_journalled_questions_to_the_users_model(played: Played) -> None:
    record, ctx = await played.talk(scripted('{"target": "L1", "detail": 2}', "By its amount."))
    assert [model for model, _ in ctx.prompts] == ["agent", "user", "user", "agent"]
    (asked,) = record.asked
    assert (asked.decided, asked.acted, asked.rho, asked.reply) == ("L1", "L1", "L1", "By its amount.")


async def test_the_router_too_has_one_retry(played: Played) -> None:
    record, ctx = await played.talk(scripted("Hmm.", '{"target": "una"}', "I cannot tell."))
    assert ctx.prompts[2][1][-1] == Message("user", words().router.note.strip())
    assert [asked.decided for asked in record.asked] == ["Una"]


@pytest.mark.parametrize("bad", ["", "prose", '{"target": "L9"}', '{"target": 1}', '{"detail": 1}'])
async def test_a_router_that_fails_twice_leaves_the_dialogue_unscored(played: Played, bad: str) -> None:
    record, _ = await played.talk(scripted(bad, bad))
    assert record.ending == "simulator_error"
    assert record.detail
    assert not scored(record)


async def test_a_refusal_is_no_decision_and_no_answer(played: Played) -> None:
    refusal = Answer(text='{"target": "L1"}', model="u", usage=None, finish="refused")
    record, _ = await played.talk(lambda _: refusal)
    assert record.ending == "simulator_error"


async def test_an_offending_answer_is_asked_for_again_with_the_reason(played: Played) -> None:
    record, ctx = await played.talk(scripted('{"target": "L1"}', "WHERE amount > 100", "By its amount."))
    (asked,) = record.asked
    assert (asked.reply, asked.rejected, asked.neutral) == ("By its amount.", 1, False)
    again = ctx.prompts[3][1]
    assert again[-2].content == "WHERE amount > 100"
    assert "holds SQL" in again[-1].content


async def test_after_three_regenerations_a_neutral_answer_stands_in_and_is_flagged(played: Played) -> None:
    answers = iter(['{"target": "L1"}', *["SELECT 1 FROM sale"] * 9])
    record, ctx = await played.talk(lambda _: next(answers))
    (asked,) = record.asked
    assert (asked.neutral, asked.rejected, asked.reply) == (True, 1 + REGENERATIONS, words().rules.neutral)
    assert sum(model == "user" for model, _ in ctx.prompts) == 2 + REGENERATIONS
    assert asked.rho == "L1"
    assert record.ending == "complete"


async def test_a_detail_out_of_range_is_none(played: Played) -> None:
    record, _ = await played.talk(scripted('{"target": "Loc", "detail": 99}', "I have no wish about that."))
    assert (record.asked[0].acted, record.asked[0].node) == ("Loc", "")


async def test_the_simulated_user_decides_as_the_rules_do(situation: Situation) -> None:
    reader = UserReader()
    chance = random.Random(0)
    for probe in probes():
        said = json.loads(reader.answer(router_prompt(probe.situation), {}, chance))
        assert said["target"] == route(probe.situation).aim
    target = Target("L1")
    assert reader.answer(generator_prompt(situation, target, ()), {}, chance) == annotation(situation, target)


def test_there_are_sixty_probes_of_every_kind_and_no_question_twice() -> None:
    questions = [(probe.situation.conversation[0], probe.situation.question) for probe in probes()]
    assert len(set(questions)) == len(questions)
    for split in ("Una", "Amb", "Loc"):
        assert sum(probe.split == split for probe in probes()) >= 60


def test_the_rules_are_worth_what_the_check_says() -> None:
    """A floor under the shipped rules: what they lose must be noticed."""
    right = [route(probe.situation).aim == probe.aim for probe in probes()]
    assert sum(right) >= 190

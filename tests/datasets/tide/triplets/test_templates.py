from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.datasets.gold import GoldRunner
from turntide.datasets.tide.editing import Value, written
from turntide.datasets.tide.structure import structure_of
from turntide.datasets.tide.triplets import DATABASES, Option, Request, Template, hear_change, read, templates
from turntide.datasets.tide.triplets.changes import Change, Drop, Project, Swap
from turntide.datasets.tide.triplets.hearing import requests_heard
from turntide.datasets.tide.triplets.library import verdict_of
from turntide.datasets.tide.triplets.model import Condition
from turntide.datasets.tide.triplets.shapes import measured

ALL = [template for database in DATABASES for template in templates(database)]
NAMES = [f"{template.database}-{template.name}" for template in ALL]
TEXTS = st.sampled_from(("Oslo", "O'Brien & Sons, Inc.", "west of the river and so on", "1", "Ærø", "all"))


def value_of(condition: Condition) -> Value:
    return condition.values[0] if condition.values else "Oslo"


def request(template: Template, held: tuple[Condition, ...], path: tuple[int, ...]) -> Request:
    numbers = {name: choices[0] for name, choices in template.numbers.items()}
    return Request(template, {condition.name: value_of(condition) for condition in held}, numbers, path)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    template = draw(st.sampled_from(ALL))
    held = draw(st.lists(st.sampled_from(template.conditions), min_size=1, unique=True))
    values = {c.name: draw(st.sampled_from(c.values) if c.values else TEXTS) for c in held}
    numbers = {name: draw(st.integers(1, 99)) for name in template.numbers}
    return Request(template, values, numbers, draw(st.sampled_from(list(template.readings()))))


@st.composite
def changes(draw: st.DrawFn) -> tuple[Request, Change]:
    before = draw(requests())
    held = [condition for condition, _ in before.conditions()]
    condition = draw(st.sampled_from(held))
    value = draw(st.sampled_from(condition.values) if condition.values else TEXTS)
    place = draw(st.integers(0, len(before.template.projections) - 1))
    says_number = "{n}" in before.template.projections[place].say
    dropped = draw(st.sampled_from([*combinations(held, 1), *combinations(held, 2)]))
    change: Change = draw(
        st.sampled_from((Swap(condition, value), Drop(dropped), Project(place, 12 if says_number else 0)))
    )
    return before, change


@settings(max_examples=150, deadline=None)
@given(requests())
def test_a_question_is_heard_as_what_was_asked_and_as_nothing_else(asked: Request) -> None:
    everything = templates(asked.template.database)
    assert list(requests_heard(everything, asked.question())) == [asked]
    (heard,) = requests_heard(everything, asked.ambiguous_question())
    assert (heard.path, heard.values, heard.numbers) == ((), asked.values, asked.numbers)


@settings(max_examples=150, deadline=None)
@given(requests())
def test_the_answers_to_the_layers_lead_to_the_reading(asked: Request) -> None:
    heard = Request(asked.template, asked.values, asked.numbers)
    for layer in asked.layers():
        assert heard.open
        assert heard.open.ask == layer.question
        assert heard.answered("No idea.") is None
        assert heard.answered(f"{layer.answer} {layer.alternative}") is None
        following = heard.answered(f"Well, {layer.answer.lower()}")
        assert following
        heard = following
    assert heard == asked
    assert heard.open is None


@settings(max_examples=150, deadline=None)
@given(changes(), st.integers(0, 5))
def test_a_drift_turn_is_heard_as_the_change_that_it_says(drawn: tuple[Request, Change], wording: int) -> None:
    before, change = drawn
    assert hear_change(before, change.say(before, wording)) == change


def test_what_follows_no_template_is_not_heard() -> None:
    assert not list(requests_heard(ALL, "What is the meaning of life?"))
    assert not templates("chinook")
    asked = request(ALL[0], ALL[0].conditions[:1], (0, 0))
    assert hear_change(asked, "Never mind.") is None
    utterances, answers = [asked.ambiguous_question(), "Never mind."], [layer.answer for layer in asked.layers()]
    assert read(ALL[0].database, utterances, answers[:1]) == (None, None)
    assert read(ALL[0].database, utterances, answers) == (written(asked.tree()), None)
    assert read(ALL[0].database, ["Never mind."], answers) == (None,)


@pytest.mark.parametrize("template", ALL, ids=NAMES)
def test_two_answers_are_never_confused_and_every_reading_is_said_differently(template: Template) -> None:
    def check(option: Option) -> None:
        for first, second in combinations(option.options, 2):
            assert first.say.lower() not in second.say.lower()
            assert second.say.lower() not in first.say.lower()
        for following in option.options:
            check(following)

    check(template.chain)
    phrases = [option.phrase for option in template.readings().values()]
    assert len(set(phrases)) == len(phrases)
    assert template.term in template.ambiguous or template.term in template.ambiguous.replace("{where}", "")


@pytest.mark.parametrize("template", ALL, ids=NAMES)
def test_the_second_layer_depends_on_the_first(template: Template) -> None:
    """What would be asked under the alternative is another question, or there is nothing to ask (§2.1)."""
    for path in template.readings():
        layers = list(request(template, template.conditions[:1], path).layers())
        if len(layers) > 1:
            assert layers[1].verdict == verdict_of(template)
            assert layers[1].question != layers[1].counterfactual
            assert bool(layers[1].counterfactual) == (layers[1].verdict == "transformed")


@pytest.mark.parametrize("template", ALL, ids=NAMES)
def test_the_structure_of_a_request_is_that_of_its_query(template: Template) -> None:
    for path in template.readings():
        for held in [*combinations(template.conditions, 1), template.conditions[:3]]:
            asked = request(template, held, path)
            assert measured(template, path, held) == structure_of(written(asked.tree()))


@pytest.mark.parametrize("database", DATABASES)
def test_every_query_that_a_template_can_make_runs(database: str, databases: Mapping[str, Path]) -> None:
    with GoldRunner({database: databases[database]}) as runner:
        for template in templates(database):
            paths, alone = list(template.readings()), list(combinations(template.conditions, 1))
            asked = [request(template, held, paths[0]) for held in alone]
            asked += [request(template, alone[0], path) for path in paths[1:]]
            queries = [each.tree() for each in asked]
            for place, projection in enumerate(template.projections):
                change = Project(place, 3 if "{n}" in projection.say else 0)
                queries.append(change.apply(asked[0], queries[0]))
            for query in queries:
                assert runner.result(database, written(query)).error is None


def test_a_condition_never_looks_like_two() -> None:
    """Each phrase has one place for its value, and no two conditions of a subject share their words."""
    for template in ALL:
        phrases = [condition.phrase for condition in template.subject.conditions]
        assert all(len(re.findall(r"\{\}", phrase)) == 1 for phrase in phrases)
        assert len(set(phrases)) == len(phrases)


def test_the_documented_reading_reads() -> None:
    document = Path(__file__).parents[4] / "docs" / "tide-triplets.md"
    found = re.search(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    assert found
    exec(found[1], {})

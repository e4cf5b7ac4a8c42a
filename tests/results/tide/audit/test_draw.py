"""What is drawn, what is asked about it, and that nothing shown gives a verdict away."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from turntide.adapters.base import ConfigurationError
from turntide.datasets.tide.samples import Sample, Triplet, samples, samples_of
from turntide.results.tide.audit.checklist import checklist, routing
from turntide.results.tide.audit.content import Piece, Sql, marked, plain, sample_parts
from turntide.results.tide.audit.tasks import in_order, sample_tasks

from .conftest import fixture_triplets, made

MANY = made(54)


def keys(sample: Sample) -> list[str]:
    return [item.key for item in checklist(sample)]


def test_each_type_of_sample_has_the_criteria_of_appendix_c() -> None:
    chain, drift, joint = samples_of(made(1)[0])
    chain_items = ["underspecified", "options_L1", "options_L2", "counterfactual_L2"]
    drift_items = ["retraction", "fidelity", "preservation"]
    assert keys(chain) == chain_items
    assert keys(drift) == drift_items
    assert keys(joint) == [*chain_items, *drift_items, "coherence"]


def test_more_layers_and_more_drifts_bring_their_own_items() -> None:
    found = {sample.id: set(keys(sample)) for sample in samples(fixture_triplets())}
    assert {"options_L3", "counterfactual_L2", "counterfactual_L3", "retraction_2"} <= found["deeper:joint"]
    assert all(
        len(each) == len(checklist(s)) for s, each in zip(samples(fixture_triplets()), found.values(), strict=True)
    )


def test_every_answer_to_an_item_has_a_key_of_its_own() -> None:
    items = [routing(triplet.layers) for triplet in fixture_triplets()]
    items += [item for sample in samples(fixture_triplets()) for item in checklist(sample)]
    for item in items:
        assert len({choice.key for choice in item.choices}) == len(item.choices)
        assert not {choice.key for choice in item.choices} & set("gct")


def test_nothing_that_is_shown_tells_a_verdict_a_subtype_or_a_tier() -> None:
    for triplet in [*MANY[:18], *fixture_triplets()]:
        secrets = {layer.counterfactual for layer in triplet.layers} - {""}
        secrets |= {*filter(None, (triplet.verdict, triplet.subtype)), *(stage.tier for stage in triplet.stages)}
        for task in sample_tasks([triplet], 1, 0, 0):
            shown = msgspec.json.encode((task.kind, task.database, task.parts)).decode()
            assert not [secret for secret in secrets if secret in shown.replace('"aside"', "")]


def test_a_drift_sample_shows_no_layer_and_a_chain_sample_no_change() -> None:
    chain, drift, joint = sample_tasks(MANY[:1], 1, 0, 0)
    forms = [[msgspec.to_builtins(part)["form"] for part in task.parts] for task in (chain, drift, joint)]
    assert forms[0] == ["said", "point", "point", "sql", "aside"]
    assert forms[1] == ["said", "sql", "said", "sql", "aside"]
    assert forms[2] == ["said", "point", "point", "sql", "said", "sql", "aside"]


@given(st.text(alphabet="ab1 =',\n"), st.text(alphabet="ab1 =',\n"))
def test_marking_what_differs_changes_no_sign_of_the_query(sql: str, beside: str) -> None:
    pieces = marked(sql, beside)
    assert "".join(piece.text for piece in pieces) == plain(sql)
    assert not any(piece.new or piece.lost for piece in marked(sql, sql, sql))


@pytest.mark.parametrize(
    ("above", "sql", "below", "shown"),
    [
        (None, "SELECT a FROM t", "SELECT b FROM t", "SELECT -a- FROM t"),
        ("SELECT a FROM t", "SELECT a FROM t WHERE c = 1", "SELECT a FROM t", "SELECT a FROM t +-WHERE c = 1-+"),
        ("SELECT a FROM t", "SELECT b FROM t WHERE c", "SELECT b FROM t", "SELECT +b+ FROM t +-WHERE c-+"),
        ("SELECT COUNT(*) FROM t", "select count( * )\nFROM  t", None, "select count( * )\nFROM  t"),
        ("SELECT 'a  b'", "SELECT 'a b'", "SELECT 'A b'", "SELECT +-'a b'-+"),
    ],
)
def test_a_query_shows_what_it_adds_and_what_the_next_one_drops(
    above: str | None, sql: str, below: str | None, shown: str
) -> None:
    def drawn(piece: Piece) -> str:
        sign = "+" * piece.new + "-" * piece.lost
        return f"{sign}{piece.text}{sign[::-1]}"

    assert "".join(map(drawn, marked(sql, above, below))) == shown


def test_a_drift_that_only_drops_something_is_marked_and_changes_are_called_as_the_checklist_calls_them() -> None:
    one = fixture_triplets()[0]
    first, second = one.stages
    fewer = structs.replace(second, utterance="All of them.", sql=first.sql.partition(" WHERE ")[0])
    for stages, name in (((first, fewer), "the change"), ((first, second, fewer), "change 2")):
        sample = list(samples_of(structs.replace(one, stages=stages)))[-1]
        parts = list(sample_parts(sample))
        upper, lower = [part for part in parts if isinstance(part, Sql)][-2:]
        assert lower.heading == f"SQL after {name}"
        assert any(piece.lost for piece in upper.pieces)
        assert not any(piece.lost or piece.new for piece in lower.pieces)
        assert any(name in item.text for item in checklist(sample))


def test_queries_of_an_audit_begun_before_are_read() -> None:
    old = b'{"form": "sql", "heading": "SQL", "pieces": [["SELECT ", false], ["a", true]]}'
    assert msgspec.json.decode(old, type=Sql).pieces == (Piece("SELECT "), Piece("a", new=True))


def test_coherence_is_asked_in_the_order_of_the_dialogue() -> None:
    asked = {s.triplet.shape: checklist(s)[-1].text for s in samples(fixture_triplets()) if s.kind == "joint"}
    for shape, way in (
        ((2, 0), "the clarifications to the change"),
        ((0, 2), "the change to the clarifications"),
        ((3, 0, 0), "the clarifications to change 1 and on to change 2"),
    ):
        assert asked.pop(shape) == f"Does the dialogue read on from {way}, without a jump or a contradiction?"
    assert not asked


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 40), st.integers(0, 12), st.integers())
def test_a_draw_is_even_repeatable_and_apart_from_calibration(count: int, calibration: int, seed: int) -> None:
    tasks = sample_tasks(MANY, count, calibration, seed)
    by_id = {triplet.id: triplet for triplet in MANY}
    held, drawn = ({t.id.split(":")[0] for t in tasks if t.calibration is c} for c in (True, False))
    assert (len(held), len(drawn), held & drawn) == (calibration, count, set())
    assert len(tasks) == 3 * (count + calibration)
    cells = Counter(_cell(by_id[name]) for name in drawn)
    sizes = [cells[cell] for cell in {_cell(triplet) for triplet in MANY}]
    assert max(sizes) - min(sizes) <= 1
    assert tasks == sample_tasks(MANY, count, calibration, seed)


def _cell(triplet: Triplet) -> tuple[str | None, ...]:
    return triplet.subtype, triplet.verdict, triplet.stages[0].tier


def test_calibration_comes_first_for_all_alike_and_the_rest_in_an_order_of_ones_own() -> None:
    tasks = sample_tasks(MANY, 20, 3, 7)
    ana, ben = (in_order(tasks, name, 7) for name in ("ana", "ben"))
    assert ana[:9] == ben[:9] == tasks[:9]
    assert all(task.calibration for task in ana[:9])
    assert ana != ben
    assert sorted(task.id for task in ana) == sorted(task.id for task in ben)
    assert ana == in_order(tasks, "ana", 7) != in_order(tasks, "ana", 8)


def test_triplets_of_equal_content_are_drawn_once() -> None:
    twins = [MANY[0], msgspec.structs.replace(MANY[0], id="twin"), MANY[1]]
    assert {task.id for task in sample_tasks(twins, 2, 0, 0)} == {f"shop-{n}:{k}" for n in "01" for k in _KINDS}
    with pytest.raises(ConfigurationError, match="there are 2 triplets to draw from: --count 2 and --calibration 1"):
        sample_tasks(twins, 2, 1, 0)


_KINDS = ("chain", "drift", "joint")

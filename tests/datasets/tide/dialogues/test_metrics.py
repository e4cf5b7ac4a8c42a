"""The seven metrics on single records: what counts, and what missing, failing and unparsable queries do to each."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from turntide.datasets.tide.metrics import (
    METRICS,
    all_right,
    asks,
    identifies,
    identifies_all,
    identifies_up_to,
    paired,
    recognises,
    recognises_at,
    resolves,
    resolves_at,
    right_up_to,
    scored,
)
from turntide.datasets.tide.record import Asked, DialogueRecord, Queried, Step, read_record


def query(stage: int, right: bool, step: Step | None = None) -> Queried:
    return Queried(
        turn=stage + 1, stage=stage, sql="SELECT 1", status="ok", agree={"multiset": right, "bird": True}, step=step
    )


def asked(rho: str) -> Asked:
    return Asked(turn=1, stage=0, question="?", reply="so", decided=rho, acted=rho, rho=rho)


def record(*queried: Queried, golds: int = 2, **fields: Any) -> DialogueRecord:
    values: dict[str, Any] = {
        "model": "m", "protocol": "f", "sample": "t:joint", "triplet": "t", "cluster": "c", "kind": "joint",
        "database": "shop", "split": "synthetic", "tier": "basic", "ending": "complete", "turns": 2, **fields,
    }  # fmt: skip
    return DialogueRecord(queried=queried, golds=golds, **values)


# What was queried; then DEA, Rec, DRA and whether the pair can be compared.
DRIFTS = [
    ("both right", (query(0, True), query(1, True, "value")), True, True, True, True),
    ("first wrong", (query(0, False), query(1, True, "value")), False, True, True, True),
    ("second wrong", (query(0, True), query(1, False, "projection")), False, True, False, True),
    ("of no single level, yet retracted", (query(0, True), query(1, True, "reject")), True, True, True, True),
    ("nothing retracted", (query(0, True), query(1, True, "not_drift")), True, False, False, True),
    ("unparsable, right by its result", (query(0, True), query(1, True, "unparsable")), True, False, False, False),
    ("no second query", (query(0, True),), False, False, False, False),
    ("no query", (), False, False, False, False),
]


@pytest.mark.parametrize(("_", "queried", "dea", "rec", "dra", "pair"), DRIFTS, ids=[name for name, *_ in DRIFTS])
def test_drift_metrics(_: str, queried: tuple[Queried, ...], dea: bool, rec: bool, dra: bool, pair: bool) -> None:
    found = record(*queried)
    assert (all_right(found), recognises(found), resolves(found), paired(found)) == (dea, rec, dra, pair)


def test_with_several_drifts_every_one_counts() -> None:
    whole = record(query(0, True), query(1, True, "value"), query(2, True, "constraint"), golds=3)
    assert (all_right(whole), recognises(whole), resolves(whole)) == (True, True, True)
    cut = record(query(0, True), query(1, True, "value"), golds=3)
    assert (all_right(cut), recognises(cut), resolves(cut)) == (False, False, False)


def deeper(shape: tuple[int, ...] = (3, 0, 0), rhos: tuple[str, ...] = ("L1", "Other", "L2")) -> DialogueRecord:
    return record(golds=len(shape), shape=shape, asked=tuple(map(asked, rhos)))


def test_a_deeper_chain_is_identified_layer_by_layer_and_jointly_only_as_a_whole() -> None:
    found = deeper()
    assert [identifies(found, f"L{layer}") for layer in (1, 2, 3)] == [True, True, False]
    assert [identifies_up_to(found, layer) for layer in (1, 2, 3)] == [True, True, False]
    assert [asks(found, times) for times in (1, 2, 3, 4)] == [True, True, True, False]
    assert not identifies_all(found)
    assert identifies_all(deeper((2, 0)))
    assert identifies_all(deeper(rhos=("L3", "L1", "L2")))
    assert not identifies_up_to(record(asked=(asked("L2"),)), 2)


def test_each_drift_is_recognised_and_resolved_by_itself() -> None:
    """The second drift is missed, the third is followed from there; only the first two queries are right."""
    steps: list[Step] = ["value", "not_drift", "constraint"]
    after = [
        query(stage, right, step)
        for stage, (right, step) in enumerate(zip((True, False, False), steps, strict=True), 1)
    ]
    found = record(query(0, True), *after, golds=4, shape=(2, 0, 0, 0))
    assert [recognises_at(found, drift) for drift in (1, 2, 3, 4)] == [True, False, True, False]
    assert [resolves_at(found, drift) for drift in (1, 2, 3)] == [True, False, False]
    assert [right_up_to(found, stage) for stage in (0, 1, 2, 3)] == [True, True, False, False]
    assert (recognises(found), resolves(found), all_right(found)) == (False, False, False)
    assert not recognises_at(record(query(0, True), query(1, True, "unparsable")), 1)


def test_with_the_papers_plan_the_metrics_by_layer_and_drift_are_the_papers() -> None:
    for _, queried, *_ in DRIFTS:
        for rhos in ((), ("L1",), ("L2",), ("L1", "L2")):
            found = record(*queried, asked=tuple(map(asked, rhos)))
            assert asks(found, 1) == asks(found) == bool(rhos)
            assert identifies_all(found) == identifies_up_to(found, 2) == (set(rhos) == {"L1", "L2"})
            assert recognises_at(found, 1) == recognises(found)
            assert resolves_at(found, 1) == resolves(found)
            assert right_up_to(found, 1) == all_right(found)


def test_only_another_plan_than_the_papers_is_written_down() -> None:
    assert "shape" not in record(query(0, True)).fields()
    whole = deeper()
    assert read_record(whole.fields()) == whole
    assert (record().plan, whole.plan, record(shape=(0, 2)).plan) == (
        "chain 2, drift", "chain 3, drift, drift", "drift, chain 2",
    )  # fmt: skip


def test_dea_takes_any_named_comparison() -> None:
    found = record(query(0, False), golds=1)
    assert not all_right(found)
    assert all_right(found, "bird")


def test_identification_is_by_router_decision_and_asking_by_any_question() -> None:
    other = record(asked=(asked("Other"),))
    assert asks(other)
    assert not identifies(other, "L1")
    both = record(asked=(asked("L2"), asked("Other"), asked("L1")))
    values = {metric.name: metric.holds(both) for metric in METRICS}
    assert (values["AR"], values["L1-IR"], values["L2-IRp"], values["JIR"]) == (True, True, True, True)
    only = {metric.name: metric.holds(record(asked=(asked("L1"),))) for metric in METRICS}
    assert (only["L1-IR"], only["L2-IRp"], only["JIR"]) == (True, False, False)


def test_only_l2_is_taken_under_the_p_protocol() -> None:
    assert [metric.name for metric in METRICS if metric.protocol == "p"] == ["L2-IRp"]
    assert [metric.name for metric in METRICS] == ["DEA", "AR", "L1-IR", "L2-IRp", "JIR", "DRR", "DRA"]


@pytest.mark.parametrize("ending", ["abstained", "cut", "refused", "turn_limit"])
def test_the_agents_own_failures_are_scored_and_the_simulators_are_not(ending: str) -> None:
    assert scored(record(ending=ending))
    assert not scored(record(ending="simulator_error"))


def test_a_record_survives_the_journal() -> None:
    whole = record(query(0, True), query(1, False, "unparsable"), asked=(asked("L1"),), verdict="eliminated", repeat=2)
    assert read_record(whole.fields()) == whole


@pytest.mark.parametrize("golds", [0, 10**12])
def test_a_record_with_more_golds_than_a_sample_can_have_is_none(golds: int) -> None:
    with pytest.raises(msgspec.ValidationError, match="golds"):
        read_record(record().fields() | {"golds": golds})

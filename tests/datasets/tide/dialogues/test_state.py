"""The machine behind a dialogue: whatever agents and users do, it ends in exactly one ending."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.adapters.base import Answer
from turntide.datasets.tide.actions import Clarify, Query
from turntide.datasets.tide.experiment import TideExperiment
from turntide.datasets.tide.record import Ending, read_record
from turntide.datasets.tide.samples import Sample
from turntide.datasets.tide.simulator.situation import Target
from turntide.datasets.tide.simulator.user import Reply
from turntide.datasets.tide.state import TURNS, DialogueState

from ....support.tide import Databases, DirectContext, scripted

ANSWERS = st.sampled_from(
    [
        "",
        "prose",
        '{"action": "clarify", "question": "By its amount?"}',
        '{"action": "clarify", "question": "Which table is it in?"}',
        '{"action": "clarify", "question": "Above a hundred, or among the top ten?"}',
        '{"action": "sql", "sql": "SELECT COUNT(*) FROM sale"}',
        '{"action": "sql", "sql": "SELEC"}',
        '{"action": "sql", "sql": "DROP TABLE sale"}',
        '{"action": "sql"}',
        "\ud800",
    ]
)
FINISHES = st.sampled_from(["stop", "stop", "stop", "length", "refused"])
SAMPLES = ("value:chain", "value:drift", "value:joint", "deeper:joint", "later-chain:joint")


@st.composite
def agents(draw: st.DrawFn) -> Sequence[Answer]:
    said = draw(st.lists(st.tuples(ANSWERS, FINISHES), min_size=2 * TURNS, max_size=2 * TURNS))
    return [Answer(text=text, model="agent", usage=None, finish=finish) for text, finish in said]  # pyright: ignore


@settings(deadline=None, max_examples=60)
@given(agents(), st.sampled_from(SAMPLES), st.sampled_from("fp"), st.booleans(), st.lists(ANSWERS, max_size=200))
def test_every_dialogue_ends_in_exactly_one_ending(
    experiment: TideExperiment,
    with_model: TideExperiment,
    shop_databases: Databases,
    agent: Sequence[Answer],
    sample: str,
    protocol: str,
    modelled: bool,
    user: list[str],
) -> None:
    chosen = with_model if modelled else experiment
    units = [unit for lane in chosen.lanes("agent", 1) for step in lane for unit in step]
    unit = next((u for u in units if (u.item, u.labels["protocol"]) == (sample, protocol)), None)
    if unit is None:
        return
    said = iter(agent)
    ctx = DirectContext(unit, shop_databases, {"agent": lambda _: next(said), "user": scripted(*user)})
    asyncio.run(chosen.dialogue(unit, ctx))
    (fields,) = ctx.records
    record = read_record(fields)
    assert record.ending in get_args(Ending)
    assert record.turns == len(record.asked) + len(record.queried) + (record.ending == "simulator_error") <= TURNS
    assert (record.ending == "complete") == (len(record.queried) == record.golds)
    assert [query.stage for query in record.queried] == list(range(len(record.queried)))
    assert record.ending != "turn_limit" or record.turns == TURNS
    assert len([model for model, _ in ctx.prompts if model == "agent"]) <= 2 * TURNS


MOVES = st.sampled_from(["clarify", "query", "hear", "hear_layer", "abstained", "simulator_error"])


@given(st.lists(MOVES, max_size=60), st.sampled_from(SAMPLES))
def test_only_allowed_transitions_happen_and_none_after_the_end(
    few: dict[str, Sample], moves: list[str], sample: str
) -> None:
    state = DialogueState(few[sample])
    for move in moves:
        before, asked = state.ending, state.question
        allowed = before is None and (move in ("hear", "hear_layer", "simulator_error")) == (asked is not None)
        if allowed:
            _move(state, move)
        else:
            with pytest.raises(RuntimeError):
                _move(state, move)
            assert state.ending == before
    assert state.turns <= TURNS


def _move(state: DialogueState, move: str) -> None:
    match move:
        case "clarify":
            state.act(Clarify("?"))
        case "query":
            state.act(Query("SELECT 1"))
        case "hear" | "hear_layer":
            target = Target("L1" if move == "hear_layer" else "Loc")
            state.hear(Reply(text="so", decided=target, target=target))
        case "abstained":
            state.abandon("abstained")
        case _:
            state.abandon("simulator_error")


def test_the_p_protocol_needs_a_layer_to_resolve(few: dict[str, Sample]) -> None:
    with pytest.raises(ValueError, match="nothing to resolve"):
        DialogueState(few["value:drift"], "p")

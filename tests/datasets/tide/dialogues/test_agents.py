"""The simulated agents on the synthetic set: the seven metrics are what follows by hand from how each behaves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from turntide.adapters.base import Message
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.gold import GoldRunner
from turntide.datasets.synthetic import NAMES, ensure
from turntide.datasets.tide.editing import written
from turntide.datasets.tide.embedded import embedded_triplets
from turntide.datasets.tide.experiment import Setup, TideExperiment
from turntide.datasets.tide.files import load_triplets
from turntide.datasets.tide.metrics import METRICS, Metric, right_at
from turntide.datasets.tide.reader.agent import LOST
from turntide.datasets.tide.reader.models import AGENTS, make
from turntide.datasets.tide.record import DialogueRecord, read_record
from turntide.datasets.tide.samples import Kind, Sample, Triplet, samples
from turntide.datasets.tide.triplets import build
from turntide.datasets.tide.triplets.hearing import hear_change, hear_question
from turntide.datasets.tide.triplets.library import templates
from turntide.datasets.tide.triplets.plan import PLAN
from turntide.datasets.tide.triplets.request import Request
from turntide.datasets.tide.words import words

from ....support.tide import Databases, DirectContext

EVERY: Final = 23
"""Each twenty-third triplet: the synthetic set mixes databases, subtypes and verdicts."""

Values = Mapping[str, float | None]

ALL: Final = 100.0
PERFECT: Final[Mapping[Kind, Values]] = {
    "chain": {"DEA": ALL, "AR": ALL, "L1-IR": ALL, "L2-IRp": ALL, "JIR": ALL},
    "drift": {"DEA": ALL, "AR": 0, "DRR": ALL, "DRA": ALL},
    "joint": {"DEA": ALL, "AR": ALL, "L1-IR": ALL, "L2-IRp": ALL, "JIR": ALL, "DRR": ALL, "DRA": ALL},
}

# What differs from the perfect agent's values, in percent; None where it depends on which readings were the right ones,
# which tests of its own derive.
NOTHING: Final[Values] = {"DEA": 0, "AR": 0, "L1-IR": 0, "L2-IRp": 0, "JIR": 0, "DRR": 0, "DRA": 0}
NO_DRIFT: Final[Values] = {"DEA": 0, "DRR": 0, "DRA": 0}
DIFFERENT: Final[Mapping[str, Mapping[Kind, Values]]] = {
    "tide-perfect": {},
    "tide-malformed-once": {},
    # Asked to the end: whatever is open first, then without end; no query is ever given.
    "tide-always-asks": {"chain": {"DEA": 0}, "drift": {**NO_DRIFT, "AR": ALL}, "joint": NO_DRIFT},
    # The drift is followed, so it is recognised; whether it is resolved depends on the guess.
    "tide-never-asks": {
        "chain": {"DEA": None, "AR": 0, "L1-IR": 0, "L2-IRp": 0, "JIR": 0},
        "joint": {"DEA": None, "AR": 0, "L1-IR": 0, "L2-IRp": 0, "JIR": 0, "DRA": None},
    },
    "tide-asks-first-only": {
        "chain": {"DEA": None, "L2-IRp": 0, "JIR": 0},
        "joint": {"DEA": None, "L2-IRp": 0, "JIR": 0, "DRA": None},
    },
    # The second layer too early is Loc: never identified beside the first, and always once that is resolved.
    "tide-asks-second-first": {"chain": {"DEA": None, "JIR": 0}, "joint": {"DEA": None, "JIR": 0, "DRA": None}},
    "tide-forgets-drift": {"drift": NO_DRIFT, "joint": NO_DRIFT},
    # Nothing is retracted; the result may be right where the old filter says no more than the new one.
    "tide-keeps-retracted": {
        "drift": {"DEA": None, "DRR": 0, "DRA": 0},
        "joint": {"DEA": None, "DRR": 0, "DRA": 0},
    },
    "tide-asks-after-drift": {"drift": {"AR": ALL}},
    "tide-abstains-after-drift": {"drift": NO_DRIFT, "joint": NO_DRIFT},
    "tide-unparsable-after-drift": {"drift": NO_DRIFT, "joint": NO_DRIFT},
    "tide-malformed-always": {"chain": NOTHING, "drift": NOTHING, "joint": NOTHING},
}

ENDINGS: Final[Mapping[str, Mapping[Kind, str]]] = {
    "tide-always-asks": {"chain": "turn_limit", "drift": "turn_limit", "joint": "turn_limit"},
    "tide-abstains-after-drift": {"chain": "complete", "drift": "abstained", "joint": "abstained"},
    "tide-malformed-always": {"chain": "abstained", "drift": "abstained", "joint": "abstained"},
}


class Played:
    """Every agent's dialogues over some triplets, each talked through at first need."""

    def __init__(self, triplets: Sequence[Triplet], paths: Mapping[str, Path]) -> None:
        self.triplets = triplets
        databases = {name: SourceDatabase(name, path, synthetic=True) for name, path in paths.items()}
        self.experiment = TideExperiment(
            Setup(samples=tuple(samples(triplets)), samples_sha256="0", synthetic=True, databases=databases)
        )
        self.databases = Databases(self.experiment.databases)
        self.records: Callable[[str], list[DialogueRecord]] = cache(self._records)

    def _records(self, name: str) -> list[DialogueRecord]:
        return asyncio.run(self._talk(name))

    async def _talk(self, name: str) -> list[DialogueRecord]:
        agent, found = make(name), list[DialogueRecord]()

        def speak(messages: Sequence[Message]) -> str:
            return agent.answer(messages, {}, random.Random(0))

        for lane in self.experiment.lanes(name, 1):
            for step in lane:
                for unit in step:
                    ctx = DirectContext(unit, self.databases, {name: speak})
                    await self.experiment.dialogue(unit, ctx)
                    found.append(read_record(ctx.records[0]))
        return found

    def of(self, name: str, metric: Metric, kind: Kind) -> list[DialogueRecord]:
        return [r for r in self.records(name) if (r.protocol, r.kind) == (metric.protocol, kind)]


@pytest.fixture(scope="module")
def look_alikes() -> Mapping[str, Path]:
    return {name: ensure(name) for name in NAMES}


@pytest.fixture(scope="module")
def played(look_alikes: Mapping[str, Path]) -> Iterator[Played]:
    """Some triplets of the synthetic set."""
    opened = Played(load_triplets(embedded_triplets()).triplets[::EVERY], look_alikes)
    yield opened
    opened.databases.close()


@pytest.mark.parametrize("agent", AGENTS)
def test_the_seven_metrics_are_those_that_follow_from_the_behaviour(played: Played, agent: str) -> None:
    for metric in METRICS:
        for kind in metric.kinds:
            expected = {**PERFECT[kind], **DIFFERENT[agent].get(kind, {})}[metric.name]
            records = played.of(agent, metric, kind)
            assert len(records) == len(played.triplets)
            if expected is not None:
                found = 100 * sum(map(metric.holds, records)) / len(records)
                assert found == expected, (metric.name, kind)


@pytest.mark.parametrize("agent", AGENTS)
def test_dialogues_end_as_the_behaviour_says(played: Played, agent: str) -> None:
    for record in played.records(agent):
        assert record.ending == ENDINGS.get(agent, {}).get(record.kind, "complete")
        assert not any(asked.neutral or asked.rejected for asked in record.asked)


@pytest.mark.parametrize(
    ("agent", "known"),
    [("tide-never-asks", 0), ("tide-asks-first-only", 1), ("tide-asks-second-first", 1)],
)
def test_who_guesses_is_right_where_the_first_reading_gives_golds_result(
    played: Played, agent: str, known: int
) -> None:
    """`known` layers are resolved, the rest is taken in its first reading."""
    with GoldRunner(played.experiment.databases) as runner:
        for record in played.records(agent):
            if record.protocol == "f" and record.kind != "drift":
                sample = next(s for s in played.experiment.setup.samples if s.id == record.sample)
                for stage, sql in enumerate(_guessed(sample, known)):
                    gold = runner.result(record.database, sample.golds[stage])
                    assert right_at(record, stage) == (runner.result(record.database, sql).multiset == gold.multiset)


def _guessed(sample: Sample, known: int) -> list[str]:
    """Return the queries of one who has heard the answers to the first `known` layers."""
    request = hear_question(templates(sample.triplet.database), sample.triplet.ambiguous_question)
    assert request is not None
    for layer in sample.layers[:known]:
        request = request.answered(layer.answer)
        assert request is not None
    while request.open:
        request = replace(request, path=(*request.path, 0))
    return [written(request.tree()), *(_after(request, turn) for turn in sample.utterances[1:])]


def _after(request: Request, turn: str) -> str:
    change = hear_change(request, turn)
    assert change is not None
    return written(change.apply(request, request.tree()))


def test_what_is_kept_is_right_only_where_a_new_value_stands_beside_the_old(played: Played) -> None:
    for record in played.records("tide-keeps-retracted"):
        if record.kind != "chain" and record.subtype != "value":
            assert record.queried[0].sql == record.queried[1].sql
            assert not right_at(record, 1)


def test_early_questions_are_journalled_with_their_raw_target_and_learn_nothing(played: Played) -> None:
    early = [r.asked[0] for r in played.records("tide-asks-second-first") if r.protocol == "f" and r.kind != "drift"]
    assert {asked.rho for asked in early} <= {"Other", "L1"}
    demoted = [asked for asked in early if asked.decided == "L2"]
    assert len(demoted) > len(early) / 2
    assert {asked.acted for asked in demoted} == {"Loc"}
    assert {(asked.node, asked.reply) for asked in demoted} == {("", words().rules.withheld)}


def test_the_perfect_agent_is_perfect_on_the_real_databases_too(
    look_alikes: Mapping[str, Path], real: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {**look_alikes, **real}
    monkeypatch.setattr(build, "PLAN", dict.fromkeys(list(PLAN)[::2], 1))
    opened = Played(build.generate(paths).triplets, paths)
    assert len(opened.triplets) == 9
    for metric in METRICS:
        for kind in metric.kinds:
            holds = {metric.holds(record) for record in opened.of("tide-perfect", metric, kind)}
            assert holds == {PERFECT[kind][metric.name] == ALL}
    opened.databases.close()


def test_agents_say_so_when_a_prompt_is_not_theirs() -> None:
    agent = make("tide-perfect")
    for messages in ([Message("user", "Hello")], [Message("system", "You write haiku."), Message("user", "Hello")]):
        assert agent.answer(messages, {}, random.Random(0)) == LOST


def test_the_agents_never_see_gold(played: Played) -> None:
    """Given the prompt of one triplet with the question of another, the answer follows the question."""
    first, second = played.triplets[:2]
    agent, unit = make("tide-perfect"), next(iter(next(iter(played.experiment.lanes("a", 1)))))[0]
    prompts: list[Sequence[Message]] = []

    def keep(messages: Sequence[Message]) -> str:
        prompts.append(messages)
        return "prose"

    asyncio.run(played.experiment.dialogue(unit, DirectContext(unit, played.databases, {"a": keep})))
    system, question = prompts[0]
    assert question.content == first.ambiguous_question
    other = agent.answer([system, Message("user", second.question)], {}, random.Random(0))
    assert second.stages[0].sql in other

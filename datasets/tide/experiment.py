"""TIDE-Bench opened on its data: which dialogues there are, and how one is talked through and recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from ...adapters.base import Json
from ...engine.spec import ModelSpec
from ...engine.unit import Context, Lane, Reference, Unit
from ..databases import SourceDatabase, identities
from . import words
from .actions import Clarify, Query
from .desk import Desk
from .dialogue import Trace, talk
from .metrics import scored
from .planning import planned, takes
from .record import DialogueRecord, Plan, Protocol
from .samples import Sample, Triplet
from .simulator import rules
from .simulator.model import LABEL, ModelGenerator, ModelRouter
from .simulator.rules import RulesGenerator, RulesRouter
from .simulator.situation import Parts
from .simulator.user import UserSimulator
from .state import DialogueState
from .statistics import changes

FAULT: Final = "the user simulator failed (another --user-model, in a run of its own, is the way out)"

Evidence: TypeAlias = Literal["rewritten", "original"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything that decides a run's requests, fixed. `user` is the model that plays the user, None for the rules."""

    samples: tuple[Sample, ...]
    samples_sha256: str
    synthetic: bool
    databases: Mapping[str, SourceDatabase]
    protocols: tuple[Protocol, ...] = ("f", "p")
    evidence: Evidence = "rewritten"
    user: ModelSpec | None = None

    @property
    def triplets(self) -> list[Triplet]:
        """The triplets that the samples are of."""
        return list({sample.triplet.id: sample.triplet for sample in self.samples}.values())


class TideExperiment:
    """See `engine.unit.Experiment`. Unit keys are `model/protocol/sample/repeat`; every dialogue is its own lane."""

    name = "tide"

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.databases: Mapping[str, Path] = {name: database.path for name, database in setup.databases.items()}
        self._desks = {name: Desk(name, path) for name, path in self.databases.items()}
        self._samples = {sample.id: sample for sample in setup.samples}
        parts: Parts = (RulesRouter(), RulesGenerator()) if setup.user is None else (ModelRouter(), ModelGenerator())
        self._user = UserSimulator(*parts)

    @property
    def auxiliary(self) -> Sequence[ModelSpec]:
        """The model that plays the user, under its own label; none with the rules."""
        user = self.setup.user
        return () if user is None else (msgspec.structs.replace(user, label=LABEL),)

    def identity(self) -> dict[str, Json]:
        """Return the data, prompts, protocols and the user that the requests follow from."""
        setup = self.setup
        return {
            "plan": cast("dict[str, Json]", msgspec.to_builtins(self.plan)),
            "samples_sha256": setup.samples_sha256,
            "databases": identities(setup.databases),
            "protocols": list(setup.protocols),
            "evidence": setup.evidence,
            "user": "model" if setup.user else f"{rules.NAME}-{rules.VERSION}",
            **words.identity(),
        }

    @cached_property
    def plan(self) -> Plan:
        """Return what a run plans for each model, and the shape of its data."""
        setup = self.setup
        triplets = setup.triplets
        return Plan(
            samples=tuple(planned(setup.samples, setup.protocols)),
            changes=tuple(changes(triplets)),
            triplets=len(triplets),
            synthetic=setup.synthetic,
        )

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        """Yield every dialogue alone, sample by sample: dialogues share nothing."""
        for repeat in range(repeats):
            for sample in self.setup.samples:
                for protocol in self.setup.protocols:
                    if takes(sample, protocol):
                        yield [(_unit(model, protocol, sample, repeat),)]

    async def dialogue(self, unit: Unit, ctx: Context) -> str | None:
        """Talk one sample through under one protocol; return what kept it from being scored, if anything did."""
        sample = self._samples[unit.item]
        triplet = sample.triplet
        state = DialogueState(sample, cast("Protocol", unit.labels["protocol"]))
        evidence = triplet.evidence if self.setup.evidence == "original" else triplet.rewritten_evidence
        trace = await talk(ctx, state, unit.model, self._desks[triplet.database], self._user, evidence)
        record = _record(unit, state, trace)
        ctx.record(**record.fields())
        return None if scored(record) else FAULT

    def references(self) -> Iterator[Reference]:
        """Yield the gold of every stage."""
        for triplet in self.setup.triplets:
            for number, stage in enumerate(triplet.stages, 1):
                yield Reference(f"{triplet.id} stage {number}", triplet.database, stage.sql)

    def expected(self, unit: Unit) -> Iterator[str]:
        """Yield what a perfect agent answers: a question for every layer that is open, then the gold, stage by stage.

        Where a model plays the user, its two answers to each question come between.
        """
        sample = self._samples[unit.item]
        primed = sample.layers[:1] if unit.labels["protocol"] == "p" else ()
        for stage in sample.stages:
            for layer in stage.layers if sample.ambiguous else ():
                if layer in primed:
                    continue
                yield Clarify(layer.question).to_json()
                if self.setup.user is not None:
                    yield json.dumps({"target": layer.label, "detail": None})
                    yield layer.answer
            yield Query(stage.sql).to_json()

    def ended(self, unit: Unit, records: Sequence[Mapping[str, Any]]) -> None:
        """Nothing is shared: later dialogues need nothing of an ended one."""


def _unit(model: str, protocol: Protocol, sample: Sample, repeat: int) -> Unit:
    return Unit(
        key=f"{model}/{protocol}/{sample.id}/{repeat}",
        item=sample.id,
        model=model,
        turns=len(sample.layers) - (protocol == "p") + len(sample.stages),
        repeat=repeat,
        labels={"protocol": protocol, "set": sample.kind},
    )


def _record(unit: Unit, state: DialogueState, trace: Trace) -> DialogueRecord:
    sample, triplet = state.sample, state.sample.triplet
    drift = next((stage.drift for stage in triplet.stages if stage.drift), None)
    assert state.ending is not None
    return DialogueRecord(
        model=unit.model,
        protocol=state.protocol,
        sample=sample.id,
        triplet=triplet.id,
        cluster=triplet.content_key,
        kind=sample.kind,
        database=triplet.database,
        split=triplet.split,
        tier=triplet.stages[0].tier,
        verdict=triplet.verdict,
        subtype=triplet.subtype,
        fine_subtype=drift.fine_subtype if drift else None,
        shape=triplet.shape,
        golds=len(sample.golds),
        repeat=unit.repeat,
        ending=state.ending,
        detail=trace.detail,
        turns=state.turns,
        retries=trace.retries,
        asked=tuple(trace.asked),
        queried=tuple(trace.queried),
    )

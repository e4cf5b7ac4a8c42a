"""Construction as an experiment of the engine: one unit per anchor, whose code walks through the stages (§3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec

from ....adapters.base import Json
from ....engine.spec import ModelSpec
from ....engine.unit import Context, Lane, Reference, Unit
from ...databases import SourceDatabase, identities
from ..design import PAPERS, Design
from ..desk import Desk
from . import words
from .anchors import AnchorFile, AnchorQuery
from .chains import make_chain
from .drifts import Place, make_drift
from .evidence import rebuilt, rewrite
from .prompts import Moment
from .record import BuildRecord, Condition, Pieces, StageName, StageRecord, drift_stage
from .rehearsal import plain_answers
from .settings import Sources
from .steps import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything that decides a construction's requests, fixed. `piece_files` are the hashes of files that serve."""

    file: AnchorFile
    file_sha256: str
    anchors: tuple[AnchorQuery, ...]
    databases: Mapping[str, SourceDatabase]
    sources: Sources
    auxiliary: tuple[ModelSpec, ...] = ()
    piece_files: Mapping[str, str]
    schemas: bool = True


class BuildPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a report needs of a construction's manifest; `drawn_on` are the hashes of the databases that the anchors
    were selected on.
    """

    anchors: int
    design: Design = PAPERS
    sources: dict[str, str]
    judges: tuple[str, ...]
    drift_judges: tuple[str, ...]
    tester: bool
    attempts: int
    selection: dict[str, Any]
    synthetic: tuple[str, ...]
    drawn_on: dict[str, str] = {}

    @property
    def chained(self) -> bool:
        """Whether triplets are to have a chain."""
        return self.sources["chain"] != "none"


class BuildExperiment:
    """See `engine.unit.Experiment`. Unit keys are `model/anchor/repeat`; anchors share nothing."""

    name = "tide-build"

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.auxiliary: Sequence[ModelSpec] = setup.auxiliary
        self.databases: Mapping[str, Path] = {name: each.path for name, each in setup.databases.items()}
        self._desks = {name: Desk(name, path) for name, path in self.databases.items()}
        self._anchors = {anchor.id: anchor for anchor in setup.anchors}

    def identity(self) -> dict[str, Json]:
        """Return the anchors, databases, prompts and sources that the requests follow from."""
        setup = self.setup
        return {
            "plan": cast("dict[str, Json]", msgspec.to_builtins(self.plan)),
            "anchors_sha256": setup.file_sha256,
            "pieces_sha256": dict(setup.piece_files),
            "databases": identities(setup.databases),
            "schemas": setup.schemas,
            **words.identity(),
        }

    @property
    def plan(self) -> BuildPlan:
        """Return what a report needs to know beside the records."""
        setup, sources = self.setup, self.setup.sources
        return BuildPlan(
            anchors=len(setup.anchors),
            design=sources.design,
            sources=sources.named(),
            judges=sources.judges,
            drift_judges=sources.drift_judges,
            tester=sources.tester,
            attempts=sources.attempts,
            selection=msgspec.to_builtins(setup.file.selection),
            synthetic=tuple(name for name, each in setup.databases.items() if each.synthetic),
            drawn_on={name: digest for name, digest in setup.file.databases.items() if name in setup.databases},
        )

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        """Yield every anchor alone."""
        sources = self.plan.sources
        pieces = {"chain": 1, "evidence": 1, "drift": self.plan.design.drifts}
        turns = sum(count for stage, count in pieces.items() if sources[stage] == "model")
        for repeat in range(repeats):
            for anchor in self.setup.anchors:
                key = f"{model}/{anchor.id}/{repeat}"
                yield [(Unit(key=key, item=anchor.id, model=model, turns=turns, repeat=repeat),)]

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        """Take one anchor through the stages, and record what became of it."""
        anchor, steps = self._anchors[unit.item], Steps(ctx, schemas=self.setup.schemas)
        stages: dict[StageName, StageRecord] = {}
        pieces, found = await self._walk(unit.model, steps, anchor, stages)
        record = BuildRecord(
            model=unit.model,
            anchor=anchor.id,
            database=anchor.database,
            split=anchor.split,
            tier=anchor.tier,
            question=anchor.question,
            evidence=anchor.evidence,
            sql=anchor.sql,
            assigned=anchor.assigned,
            design=self.setup.sources.design,
            repeat=unit.repeat,
            stages=stages,
            pieces=pieces,
            rebuilt=found,
        )
        ctx.record(**record.fields())

    async def _walk(
        self, model: str, steps: Steps, anchor: AnchorQuery, stages: dict[StageName, StageRecord]
    ) -> tuple[Pieces, dict[Condition, bool]]:
        """Go from stage to stage until one keeps nothing; return the pieces and what the tester made of them."""
        sources, desk = self.setup.sources, self._desks[anchor.database]
        moment, pieces = Moment((anchor.question,), anchor.sql), Pieces()
        found: dict[Condition, bool] = {}
        for number in range(sources.design.drifts + 1):
            if number:
                place = Place(anchor, desk, moment, number)
                stages[drift_stage(number)], drift = await make_drift(steps, place, sources, model)
                if drift is None:
                    break
                pieces = msgspec.structs.replace(pieces, drifts=(*pieces.drifts, drift))
                moment = Moment((*moment.said, drift.utterance), drift.sql)
            if number == sources.design.opens:
                stages["chain"], chain = await make_chain(steps, anchor, moment, desk, sources, model)
                if chain is None:
                    break
                pieces = msgspec.structs.replace(pieces, ambiguous=chain.question, layers=chain.layers)
                stages["evidence"], evidence = await rewrite(steps, anchor, moment, chain, sources, model)
                if evidence is None:
                    break
                pieces = msgspec.structs.replace(pieces, evidence=evidence)
                if sources.tester and chain.layers:
                    found = await rebuilt(steps, anchor, moment, chain, evidence, desk)
        return pieces, found

    def references(self) -> Iterator[Reference]:
        """Yield the query of every anchor."""
        for anchor in self.setup.anchors:
            yield Reference(anchor.id, anchor.database, anchor.sql)

    def expected(self, unit: Unit) -> Iterator[str]:
        """Yield what every call answers when nothing is rejected."""
        return plain_answers(self._anchors[unit.item], self.setup.sources)

    def ended(self, unit: Unit, records: Sequence[Mapping[str, Any]]) -> None:
        """Nothing is shared between anchors."""

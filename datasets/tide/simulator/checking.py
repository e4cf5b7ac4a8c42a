"""A router scored on the probes, as an experiment of the engine: journalled, resumable and under a budget like any run.

The evaluated models are the routers; each probe is a dialogue of one question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import msgspec

from ....adapters.base import Json
from ....engine.spec import ModelSpec
from ....engine.unit import Context, Lane, Reference, Unit
from .. import words
from .model import ModelRouter
from .probes import Probe, probes
from .situation import SimulatorFault


class ProbeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a router said to one probe: a layer, `Loc` or `Una`; empty when its answers were no decision."""

    router: str
    probe: str
    said: str


def read_record(fields: Mapping[str, Any]) -> ProbeRecord:
    """Return the record that a journal line holds."""
    return msgspec.convert(fields, ProbeRecord)


class ProbeExperiment:
    """See `engine.unit.Experiment`. Unit keys are `router/probe`."""

    name = "tide"
    databases: Mapping[str, Path] = {}
    auxiliary: Sequence[ModelSpec] = ()

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit

    @cached_property
    def _probes(self) -> dict[str, Probe]:
        return {probe.id: probe for probe in probes()[: self._limit]}

    def identity(self) -> dict[str, Json]:
        """Return the probes and the prompts."""
        content = files(__name__.rpartition(".")[0]).joinpath("probes.toml").read_bytes()
        return {"probes_sha256": hashlib.sha256(content).hexdigest(), **words.identity()}

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        """Yield every probe alone."""
        for probe in self._probes:
            yield [(Unit(key=f"{model}/{probe}", item=probe, model=model, turns=1),)]

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        """Put one probe to the router."""
        try:
            said = (await ModelRouter(unit.model).route(ctx, self._probes[unit.item].situation)).aim
        except SimulatorFault:
            said = ""
        record = ProbeRecord(router=unit.model, probe=unit.item, said=said)
        ctx.record(**cast("dict[str, Json]", msgspec.to_builtins(record)))

    def references(self) -> Iterator[Reference]:
        """Yield nothing: no statement is executed."""
        return iter(())

    def expected(self, unit: Unit) -> Iterator[str]:
        """Yield the label."""
        yield json.dumps({"target": self._probes[unit.item].aim, "detail": None})

    def ended(self, unit: Unit, records: Sequence[Mapping[str, Any]]) -> None:
        """Nothing is shared between probes."""

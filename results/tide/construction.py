"""The report of a construction: the funnel, why anchors were dropped, how far judges agree, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ...adapters.base import ConfigurationError, Json
from ...datasets.tide.construction.experiment import BuildPlan
from ...datasets.tide.construction.record import BuildRecord, read_record
from ...engine.ledger import key_of
from ..reading import ModelIdentity, RunFolder, in_order, require_agreement
from ..report import Report
from ..spending import Spent, cost
from .funnel import tables


@dataclass(slots=True)
class Build:
    """What one or more run folders hold together: shards of one construction, or several generators on its anchors.

    `spent` is by label of the model that was asked, everything that it was asked for in one part.
    """

    plan: BuildPlan
    models: tuple[ModelIdentity, ...]
    auxiliary: tuple[ModelIdentity, ...]
    planned: int
    records: list[BuildRecord] = field(default_factory=list[BuildRecord])
    spent: dict[tuple[str, str], Spent] = field(default_factory=dict[tuple[str, str], Spent])


def report(runs: Sequence[RunFolder]) -> Report:
    """Return the report. Raises ConfigurationError when the runs do not belong together, or no anchor is through."""
    build = read_build(runs)
    if not build.records:
        folders = " ".join(str(run.folder) for run in runs)
        raise ConfigurationError(f"no anchor is through yet in {folders}. `turntide status` says how far it is.")
    return Report(
        title=f"TIDE-Bench construction: {build.plan.anchors:,} anchors",
        marks=dict(_marks(build)),
        facts=_facts(runs[0], build),
        warnings=[],
        tables=[*tables(build.plan, build.records, build.planned), cost(build.spent, "part")],
    )


def read_build(runs: Sequence[RunFolder]) -> Build:
    """Read the runs as one construction, its records in plan order: by generator as named, then by anchor."""
    require_agreement(runs, lambda difference: False)
    runs = in_order(runs)
    models = tuple({model.label: model for run in runs for model in run.models}.values())
    auxiliary = tuple({model.label: model for run in runs for model in run.auxiliary}.values())
    plan = msgspec.convert(runs[0].identity["experiment"]["plan"], BuildPlan)
    planned = plan.anchors * runs[0].identity["repeats"] * len(models)
    build = Build(plan, models, auxiliary, planned)
    spent: dict[str, Spent] = {}
    for run in runs:
        _read(run, build.records, spent)
    labels = [model.label for model in (*models, *auxiliary)]
    build.records.sort(key=lambda record: (labels.index(record.model), record.repeat, record.anchor))
    build.spent = {(label, "all"): spent[label] for label in labels if label in spent}
    return build


def _read(run: RunFolder, records: list[BuildRecord], spent: dict[str, Spent]) -> None:
    asked: dict[Any, str] = {}
    for line in run.lines():
        match line["k"]:
            case "sent":
                asked[key_of(line)] = line["m"]
            case "answer":
                spent.setdefault(asked.pop(key_of(line)), Spent()).add(line)
            case "record":
                records.append(read_record(line["fields"]))
            case _:
                pass


def _marks(build: Build) -> Iterator[tuple[str, str]]:
    simulated = [m.label for m in (*build.models, *build.auxiliary) if m.simulated and (m.label, "all") in build.spent]
    if simulated:
        yield "SIMULATED", f"{', '.join(simulated)} answered by rules; the numbers say nothing about real models"
    if build.plan.synthetic:
        yield "SYNTHETIC", f"generated look-alikes stand in for {', '.join(build.plan.synthetic)}"
    unjudged = [
        name
        for name, judges in (("chains", build.plan.judges), ("drifts", build.plan.drift_judges))
        if not judges and (name == "drifts" or build.plan.sources["chain"] != "none")
    ]
    if unjudged:
        yield "UNJUDGED", f"no judge saw the {' and the '.join(unjudged)}"
    if len(build.records) < build.planned:
        yield "INCOMPLETE", f"{len(build.records):,} of {build.planned:,} anchors are through"


def _facts(run: RunFolder, build: Build) -> Mapping[str, Json]:
    identity, experiment = run.identity, run.identity["experiment"]
    return {
        "anchors": {"sha256": experiment["anchors_sha256"]},
        "databases": {
            name: {"kind": "synthetic" if each["synthetic"] else "real", "sha256": each["sha256"]}
            for name, each in experiment["databases"].items()
        },
        "models": {model.label: model.id for model in (*build.models, *build.auxiliary)},
        "pieces": dict(build.plan.sources),
        "attempts": build.plan.attempts,
        "prompts": {"sha256": experiment["prompts_sha256"]},
        "run": {"repeats": identity["repeats"], "seed": identity["seed"], "limit": identity["limit"]},
    }

"""TIDE-Bench's report: what was run, then the paper's tables, each from the answers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ...adapters.base import Json
from ...datasets.tide.samples import KINDS, Kind
from ..configurations import models_table, stating, substitutions
from ..published import read_published
from ..reading import NothingScored, RunFolder, scoring_facts, scoring_warnings, simulated_mark
from ..report import BOUNDS, Report, by_model, parted
from ..spending import cost, paid
from ..table import Rate, Table
from . import accuracy, beyond, breakdown, chain, data, drift, interaction, outcomes
from .dialogues import Dialogues
from .figures import figures
from .reading import reading
from .simulator import PUBLISHED, is_check, simulator_report
from .sweep import Sweep, read_sweep


def report(runs: Sequence[RunFolder]) -> Report:
    """Return the report of the runs, read as one sweep; of checks of the user simulator, theirs.

    Raises ConfigurationError when they do not belong together, NothingScored when nothing is scored yet.
    """
    if any(is_check(run) for run in runs):
        return simulator_report(runs)
    sweep = read_sweep(runs)
    if not sweep.dialogues.records:
        raise NothingScored("no dialogue is scored", runs)
    models = (*sweep.models, *sweep.auxiliary)
    found, empty = parted(
        [
            *stating(tables(sweep.dialogues), "dea", sweep.models),
            *sweep.gold.tables(),
            models_table(models, sweep.returned),
            cost(sweep.spent, "protocol"),
        ]
    )
    return Report(
        title=_title(sweep.dialogues),
        marks=dict(marks_of(runs, sweep)),
        facts={**_facts(runs), "gold": sweep.gold.fact(), **scoring_facts(runs)},
        warnings=[*substitutions(models, sweep.returned), *_strangers(sweep), *scoring_warnings(runs)],
        published=partial(read_published, PUBLISHED),
        tables=found,
        empty=empty,
        headline=_headline(sweep.dialogues),
        scored=f"{len(sweep.dialogues.records):,} of {sweep.dialogues.planned:,} dialogues",
        paid=paid(sweep.spent.values()),
        figures=figures({table.key: table for table in found}),
        reading=reading(),
    )


def _headline(dialogues: Dialogues) -> dict[str, dict[str, Rate]]:
    """Return DEA% per sample set, by model."""
    return {
        f"DEA% on {accuracy.SET_NAMES[kind]}": by_model(
            dialogues.labels, lambda model, kind=kind: accuracy.rate_of(dialogues, "DEA", model, kind)
        )
        for kind in dialogues.taken("f")
    }


def tables(dialogues: Dialogues) -> Iterator[Table]:
    """Yield every table of the scored dialogues that the plan allows, in the order in which they are read."""
    planned: set[Kind] = {kind for _, protocol, kind in dialogues.cells if protocol == "f"}
    yield accuracy.completeness(dialogues)
    if any(kind != "drift" for _, _, kind in dialogues.cells):
        yield chain.identification(dialogues)
    yield from (table(dialogues) for needs, table in _FULL if needs(planned))
    yield from beyond.tables(dialogues)
    yield outcomes.endings(dialogues)
    yield outcomes.queries(dialogues)
    yield chain.router(dialogues)
    yield data.composition(dialogues.plan)
    if dialogues.plan.changes:
        yield data.structural_change(dialogues.plan)
        yield data.tier_change(dialogues.plan)


def _drifts(planned: set[Kind]) -> bool:
    return bool(planned & {"drift", "joint"})


def _both_drifts(planned: set[Kind]) -> bool:
    return planned >= {"drift", "joint"}


def _all(planned: set[Kind]) -> bool:
    return planned >= set(KINDS)


def _chains(planned: set[Kind]) -> bool:
    return "chain" in planned


_FULL: Sequence[tuple[Callable[[set[Kind]], bool], Callable[[Dialogues], Table]]] = (
    (bool, accuracy.dea),
    (_drifts, drift.handling),
    (_drifts, drift.gap),
    (_both_drifts, drift.drift_to_joint),
    (_all, interaction.joint_against_product),
    (_drifts, drift.error_propagation),
    (bool, partial(accuracy.dea_by, name="tier")),
    (bool, partial(accuracy.dea_by, name="verdict")),
    (_chains, chain.identification_by_verdict),
    (bool, breakdown.breakdown),
    (bool, accuracy.comparisons),
    (bool, outcomes.disagreements),
)
"""The tables of the f-protocol, each with what it needs of the sample sets that were planned."""


def _title(dialogues: Dialogues) -> str:
    protocols = sorted({protocol for _, protocol, _ in dialogues.cells})
    count = len(dialogues.labels)
    return (
        f"TIDE-Bench: {count:,} model{'s' * (count != 1)} × {dialogues.plan.triplets:,} triplets, "
        f"{'- and '.join(protocols)}-protocol, {dialogues.planned:,} dialogues"
    )


def marks_of(runs: Sequence[RunFolder], sweep: Sweep) -> Iterator[tuple[str, str]]:
    """Yield what no reader may miss, each by its word."""
    yield from simulated_mark([*sweep.models, *sweep.auxiliary], sweep.simulated).items()
    if not sweep.auxiliary:
        yield "RULES", "the user is played by rules, not by a language model; routing may differ from the paper's"
    synthetic = [name for name, database in _databases(runs[0]).items() if database["synthetic"]]
    if sweep.dialogues.plan.synthetic or synthetic:
        parts = ["the triplets are ours, not the authors'"] if sweep.dialogues.plan.synthetic else []
        parts += [f"generated look-alikes stand in for {', '.join(synthetic)}"] if synthetic else []
        yield "SYNTHETIC", "; ".join(parts)
    if sweep.tainted:
        changed = ", ".join(sweep.tainted)
        yield "TAINTED", f"the databases {changed} changed while a run used them; its scores cannot be trusted"
    done, planned = len(sweep.dialogues.records), sweep.dialogues.planned
    if done < planned:
        faults = len(sweep.dialogues.faults)
        why = f", {faults:,} of the others ended by a fault of the user simulator" if faults else ""
        yield "INCOMPLETE", f"{done:,} of {planned:,} dialogues are scored{why}{f'; {BOUNDS}' if done else ''}"


def _strangers(sweep: Sweep) -> Iterator[str]:
    """Yield that simulated agents understood nothing, if one never took an action: they know the templates alone."""
    records = sweep.dialogues.records
    active = {record.model for record in records if record.asked or record.queried}
    silent = [label for label in sweep.dialogues.labels if label in sweep.simulated - active]
    if silent:
        yield (
            f"No action came from {', '.join(silent)} in any dialogue. Unless an agent is made to give none, it "
            "understood nothing: simulated agents know the questions of our templates alone; over other triplets their "
            "zeros say nothing of the triplets, nor of the scoring."
        )


def _facts(runs: Sequence[RunFolder]) -> dict[str, Json]:
    identity = runs[0].identity
    experiment = identity["experiment"]
    return {
        "triplets": {"count": experiment["plan"]["triplets"], "sha256": experiment["samples_sha256"]},
        "databases": {
            name: {"kind": "synthetic" if database["synthetic"] else "real", "sha256": database["sha256"]}
            for name, database in _databases(runs[0]).items()
        },
        "evidence": experiment["evidence"],
        "user": ", ".join(model.id for model in runs[0].auxiliary) or experiment["user"],
        "prompts": {"sha256": experiment["prompts_sha256"]},
        "run": {"repeats": identity["repeats"], "seed": identity["seed"], "limit": identity["limit"]},
    }


def _databases(run: RunFolder) -> dict[str, dict[str, Json]]:
    return run.identity["experiment"]["databases"]

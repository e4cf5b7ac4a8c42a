"""EnterpriseMem-Bench's report: what was run, then the paper's tables, each from the answers alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from ...adapters.base import Json
from ...datasets.enterprisemem.sessions import DATABASES
from ..configurations import models_table, stating, substitutions
from ..published import read_published
from ..reading import NothingScored, RunFolder, scoring_facts, scoring_warnings, simulated_mark
from ..report import BOUNDS, Report, by_model, parted
from ..spending import cost, paid
from ..table import Rate, Table
from . import accuracy, data, memory, outcomes, reasoning
from .figures import figures
from .reading import reading
from .sweep import Sweep, read_sweep
from .turns import Kind, Turns

PUBLISHED: Final = Path(__file__).with_name("published.toml")

NO_MEMORY: Final = (
    "no turn of this run needs an earlier one, so that memory can make no difference: session files begin with single "
    "questions. A higher --limit, or none, reaches the others."
)


def report(runs: Sequence[RunFolder]) -> Report:
    """Return the report of the runs, read as one sweep.

    Raises ConfigurationError when they do not belong together, NothingScored when nothing is scored yet.
    """
    sweep = read_sweep(runs)
    turns = sweep.turns
    if not turns.records:
        raise NothingScored("no turn is scored", runs)
    found, empty = parted(
        [
            *stating(tables(turns), "ex_by_condition", sweep.models),
            *_modes(sweep),
            *_data(runs, turns),
            *sweep.gold.tables(),
            models_table(sweep.models, sweep.returned),
            cost(sweep.spent, "condition"),
        ]
    )
    return Report(
        title=_title(turns),
        marks=dict(marks_of(runs, sweep)),
        facts={**_facts(runs, turns), "gold": sweep.gold.fact(), **scoring_facts(runs)},
        warnings=[
            *([] if any(kind.critical for kind in turns.plan.turns) else [NO_MEMORY]),
            *substitutions(sweep.models, sweep.returned),
            *scoring_warnings(runs),
        ],
        published=partial(read_published, PUBLISHED),
        tables=found,
        empty=empty,
        headline=_headline(turns),
        scored=f"{len(turns.records):,} of {turns.part().planned:,} turns",
        paid=paid(sweep.spent.values()),
        figures=figures({table.key: table for table in found}),
        reading=reading(),
    )


def _headline(turns: Turns) -> dict[str, dict[str, Rate]]:
    """Return EX% per condition, by model."""
    return {
        f"EX% at {condition}": by_model(
            turns.plan.models, lambda model, condition=condition: turns.rate(turns.part(model, condition))
        )
        for condition in turns.plan.conditions
    }


def tables(turns: Turns) -> Iterator[Table]:
    """Yield every table of the scored turns that the plan allows, in the order in which they are read."""
    yield accuracy.completeness(turns)
    yield accuracy.by_condition(turns)
    yield accuracy.by_source(turns)
    yield accuracy.by_tier(turns)
    yield accuracy.by_turn(turns)
    if "A" in turns.plan.conditions and len(turns.plan.conditions) > 1:
        yield memory.memory_benefit(turns)
    if memory.present_effects(turns):
        yield memory.ablation(turns)
    yield outcomes.errors(turns)
    yield outcomes.wrong_results(turns)
    yield outcomes.errors_by_turn(turns)
    yield outcomes.details(turns)
    if turns.tells_contamination.any():
        yield memory.contamination(turns)
    yield outcomes.comparisons(turns)
    yield outcomes.disagreements(turns)


def _data(runs: Sequence[RunFolder], turns: Turns) -> Iterator[Table]:
    kinds = {name: "synthetic" if database["synthetic"] else "real" for name, database in _databases(runs[0]).items()}
    named = {source: f"{DATABASES[source]} ({kinds.get(DATABASES[source], '?')})" for source in turns.sources}
    yield data.sources(turns, named)
    yield data.sessions(turns)


def _modes(sweep: Sweep) -> Iterator[Table]:
    if pairs := list(reasoning.modes(sweep.models)):
        yield reasoning.comparison(sweep.turns, pairs)


def _title(turns: Turns) -> str:
    plan = turns.plan
    each = sum(kind.count for kind in plan.turns)
    sizes = [(len(plan.models), "model"), (len(plan.conditions), "condition"), (each, "turn")]
    sizes += [(plan.repeats, "repeat")] if plan.repeats > 1 else []
    return "EnterpriseMem-Bench: " + " × ".join(f"{size:,} {noun}{'s' * (size != 1)}" for size, noun in sizes)


def marks_of(runs: Sequence[RunFolder], sweep: Sweep) -> Iterator[tuple[str, str]]:
    """Yield what no reader may miss, each by its word."""
    yield from simulated_mark(sweep.models, sweep.simulated).items()
    synthetic = [name for name, database in _databases(runs[0]).items() if database["synthetic"]]
    if synthetic:
        yield "SYNTHETIC", f"generated look-alikes stand in for the databases {', '.join(synthetic)}"
    if sweep.tainted:
        changed = ", ".join(sweep.tainted)
        yield "TAINTED", f"the database {changed} changed while a run used it; these scores cannot be trusted"
    whole = sweep.turns.part()
    if len(whole.rows) < whole.planned:
        bounds = f"; {BOUNDS}" if len(whole.rows) else ""
        yield "INCOMPLETE", f"{len(whole.rows):,} of {whole.planned:,} turns are scored{bounds}"


def _facts(runs: Sequence[RunFolder], turns: Turns) -> dict[str, Json]:
    identity = runs[0].identity
    experiment = identity["experiment"]
    embedders = [embedder for run in runs if (embedder := run.identity["experiment"]["embedder"])]
    return {
        "conditions": list(turns.plan.conditions),
        "sessions": {"count": Kind(turn=1).count(turns.plan.turns), "sha256": experiment["sessions_sha256"]},
        "databases": {
            name: {"kind": "synthetic" if database["synthetic"] else "real", "sha256": database["sha256"]}
            for name, database in _databases(runs[0]).items()
        },
        "memory": {
            "order": experiment["order"],
            "state": "gold" if experiment["state"] else "none",
            "embedder": embedders[0] if embedders else None,
        },
        "prompts": {"sha256": experiment["prompts_sha256"]},
        "run": {"repeats": identity["repeats"], "seed": identity["seed"], "limit": identity["limit"]},
    }


def _databases(run: RunFolder) -> dict[str, dict[str, Json]]:
    return run.identity["experiment"]["databases"]

"""Execution accuracy (EX, strict: section 3.3) over the sweep's dimensions, and how much of it is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..differences import AT_THE_ENDS
from ..statistics import rate_bounds
from ..table import Cell, Number, Rate, Table, counted
from .turns import Kind, Turns

INTERVALS: Final = (
    "Percent of scored turns, with Wilson's 95 % interval at the effective sample size: turns of one session, and of "
    f"sessions of equal content, are one cluster. {AT_THE_ENDS}"
)


def completeness(turns: Turns) -> Table:
    """Scored and planned turns per model, and per cell where some are missing: what every number rests on."""
    rows: list[list[Cell]] = []
    for model in turns.plan.models:
        rows.append([model, "all", *_bounded(turns.rate(turns.part(model)))])
        for condition in turns.plan.conditions:
            cell = turns.rate(turns.part(model, condition))
            if cell.scored < cell.planned:
                rows.append([model, condition, *_bounded(cell)])
    return Table(
        key="completeness",
        title="Scored turns, and EX% as it is and as it could still be",
        columns=("model", "condition", "scored", "planned", "EX%", "if all missing fail", "if all missing succeed"),
        labels=2,
        rows=rows,
        note=INTERVALS,
    )


def by_condition(turns: Turns) -> Table:
    """EX% per model and condition over all turns (Table 6)."""
    table = Table(
        key="ex_by_condition",
        title="EX% by condition",
        source="EnterpriseMem-Bench, Table 6",
        columns=("model", *turns.plan.conditions),
        rows=[
            [model or "all", *(turns.rate(turns.part(model, condition)) for condition in turns.plan.conditions)]
            for model in turns.models
        ],
        note=INTERVALS,
    )
    return counted(table)


def by_source(turns: Turns) -> Table:
    """EX% per source, model and condition."""
    return _by_kind(turns, "source", {source: Kind(source=source) for source in turns.sources})


def by_tier(turns: Turns) -> Table:
    """EX% per tier (1, 4, and 9 or 10 turns), model and condition."""
    tiers = sorted({planned.tier for planned in turns.plan.turns})
    return _by_kind(turns, "tier", {f"T{tier}": Kind(tier=tier) for tier in tiers})


def by_turn(turns: Turns) -> Table:
    """EX% per turn depth (Tables 7 and 13), for every condition."""
    kinds = [Kind(turn=depth) for depth in turns.depths]
    return Table(
        key="ex_by_turn",
        title="EX% by turn",
        source="EnterpriseMem-Bench, Tables 7 and 13",
        columns=("condition", "model", *(f"T{depth}" for depth in turns.depths)),
        labels=2,
        brief=2,
        rows=[
            [condition, model or "all", *(turns.rate(turns.part(model, condition, kind)) for kind in kinds)]
            for condition in turns.plan.conditions
            for model in turns.models
        ],
        note=f"Percent. Turns planned per cell: {turns.sizes(kinds)}.",
    )


def _by_kind(turns: Turns, name: str, kinds: Mapping[str, Kind]) -> Table:
    table = Table(
        key=f"ex_by_{name}",
        title=f"EX% by {name}",
        columns=(name, "model", *turns.plan.conditions),
        labels=2,
        rows=[
            [label, model or "all", *(turns.rate(turns.part(model, c, kind)) for c in turns.plan.conditions)]
            for label, kind in kinds.items()
            for model in turns.models
        ],
    )
    return counted(table)


def _bounded(rate: Rate) -> list[Cell]:
    bounds = rate_bounds(rate.hits, rate.scored, rate.planned)
    shown = Rate(hits=rate.hits, scored=rate.scored, planned=rate.scored, low=rate.low, high=rate.high)
    return [rate.scored, rate.planned, shown, Number(100 * bounds.worst), Number(100 * bounds.best)]

"""Deeper chains and more than one drift: the chain's metrics layer by layer, the drifts' drift by drift.

The seven metrics ask for the whole chain and for every drift. These tables say where along the way an agent is lost.
With a chain of two and one drift they would repeat the paper's, and are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ...datasets.tide.metrics import asks, identifies, identifies_up_to, recognises_at, resolves_at, right_up_to
from ...datasets.tide.record import Protocol
from ...datasets.tide.samples import Kind, Shape, plan_in_words
from ..table import Cell, Table, counted
from .accuracy import SET_NAMES
from .dialogues import Dialogues, Group, Part


def layers(dialogues: Dialogues) -> Table:
    """Lk-IR under both protocols, JIR and AR up to each layer, over the samples whose chain has it."""
    rows: list[list[Cell]] = []
    flags = {
        layer: (
            dialogues.flags(partial(identifies, layer=f"L{layer}")),
            dialogues.flags(partial(identifies_up_to, layer=layer)),
            dialogues.flags(partial(asks, times=layer)),
        )
        for layer in range(1, max(map(sum, dialogues.shapes)) + 1)
    }
    for kind in dialogues.taken("f", ("chain", "joint")):
        for layer, (found, up_to, asked) in flags.items():
            part = partial(_part, dialogues, kind=kind, has=lambda shape, layer=layer: sum(shape) >= layer)
            for model in dialogues.models:
                full, primed = part(model, "f"), part(model, "p")
                cells: list[Cell] = [
                    dialogues.rate(full, found),
                    dialogues.rate(primed, found) if layer > 1 and primed.planned else None,
                    dialogues.rate(full, up_to),
                    dialogues.rate(full, asked),
                ]
                rows.append([SET_NAMES[kind], f"L{layer}", model or "all", *cells])
    table = Table(
        key="layers",
        title="The chain layer by layer (%)",
        columns=("set", "layer", "model", "Lk-IR", "Lk-IRp", "JIR to here", "AR, as often"),
        labels=3,
        rows=rows,
        note="Over the samples whose chain has the layer. JIR to here: this layer and all before it were asked for. "
        "AR, as often: at least as many questions as layers. Lk-IRp with L1 resolved; the rest: f-protocol.",
    )
    return counted(table)


def drifts(dialogues: Dialogues) -> Table:
    """DRR and DRA of each drift, and DEA up to it, over the samples that have it."""
    rows: list[list[Cell]] = []
    flags = {
        number: (
            dialogues.flags(partial(recognises_at, drift=number)),
            dialogues.flags(partial(resolves_at, drift=number)),
            dialogues.flags(partial(right_up_to, stage=number)),
        )
        for number in range(1, max(map(len, dialogues.shapes)))
    }
    for kind in dialogues.taken("f", ("drift", "joint")):
        for number, shown in flags.items():
            for model in dialogues.models:
                part = _part(dialogues, model, "f", kind=kind, has=lambda shape, number=number: len(shape) > number)
                rates = (dialogues.rate(part, each) for each in shown)
                rows.append([SET_NAMES[kind], number, model or "all", *rates])
    table = Table(
        key="drifts",
        title="Drift by drift (%)",
        columns=("set", "drift", "model", "DRR", "DRA", "DEA to here"),
        labels=3,
        rows=rows,
        note="Over the samples that have the drift. DRR and DRA: of this drift alone, against the agent's own query "
        "before it. DEA to here: the query after it and all before are right. f-protocol.",
    )
    return counted(table)


def tables(dialogues: Dialogues) -> Iterator[Table]:
    """Yield the tables that say more than the seven metrics do."""
    if any(sum(shape) > 2 for shape in dialogues.shapes) and dialogues.taken("f", ("chain", "joint")):
        yield layers(dialogues)
    if any(len(shape) > 2 for shape in dialogues.shapes) and dialogues.taken("f", ("drift", "joint")):
        yield drifts(dialogues)


def _part(
    dialogues: Dialogues, model: str | None, protocol: Protocol, *, kind: Kind, has: Callable[[Shape], bool]
) -> Part:
    """Return the dialogues of a cell whose plan is of such a shape."""
    plans = [plan_in_words(shape) for shape in dialogues.shapes if has(shape)]
    parts = [dialogues.part(model, protocol, kind, Group(plan=plan)) for plan in plans]
    return Part(np.sort(np.concatenate([part.rows for part in parts])), sum(part.planned for part in parts))

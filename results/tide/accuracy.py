"""Dialogue execution accuracy (DEA) over the sweep's dimensions, and how much of it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from ...datasets.tide.metrics import all_right
from ...datasets.tide.record import Protocol
from ...datasets.tide.samples import KINDS, SUBTYPES, TIERS, VERDICTS, Kind
from ...datasets.tide.scoring import HEADLINE
from ...engine.sql.comparison import COMPARISONS
from ..differences import AT_THE_ENDS
from ..statistics import rate_bounds
from ..table import Cell, Number, Rate, Table, counted
from .dialogues import ALL, Dialogues, Group

SET_NAMES: Final[dict[Kind, str]] = {"chain": "Chain-only", "drift": "Drift-only", "joint": "Joint"}
Column: TypeAlias = "tuple[Kind, str, Group]"
"""A sample set, the name of some of its triplets, and which these are."""

INTERVALS: Final = (
    "Percent of scored dialogues, with Wilson's 95 % interval at the effective sample size; dialogues over triplets of "
    f"equal content are one cluster. {AT_THE_ENDS}"
)
BESIDE: Final = tuple(name for name in COMPARISONS if name != HEADLINE)


def completeness(dialogues: Dialogues) -> Table:
    """Scored and planned dialogues per cell, with DEA as it is and as it could still be."""
    rows: list[list[Cell]] = []
    for model, protocol, kind in sorted(
        dialogues.cells, key=lambda cell: (dialogues.labels.index(cell[0]), cell[1], KINDS.index(cell[2]))
    ):
        rate = dialogues.rate(dialogues.part(model, protocol, kind), dialogues.metrics["DEA"])
        bounds = rate_bounds(rate.hits, rate.scored, rate.planned)
        shown = Rate(hits=rate.hits, scored=rate.scored, planned=rate.scored, low=rate.low, high=rate.high)
        ends = [Number(100 * share) for share in (bounds.worst, bounds.best)]
        rows.append([model, protocol, SET_NAMES[kind], rate.scored, rate.planned, shown, *ends])
    return Table(
        key="completeness",
        title="Scored dialogues, and DEA% as it is and as it could still be",
        columns=(
            "model", "protocol", "set", "scored", "planned", "DEA%", "if all missing fail", "if all missing succeed",
        ),
        labels=3,
        rows=rows,
        note=INTERVALS,
    )  # fmt: skip


def dea(dialogues: Dialogues) -> Table:
    """DEA% by sample set and drift subtype (Table 3)."""
    groups: list[Column] = [("chain", "", ALL)] if dialogues.has("f", "chain") else []
    for kind in dialogues.taken("f", ("drift", "joint")):
        groups += by_subtype(dialogues, kind)
    return Table(
        key="dea",
        title="DEA%",
        source="TIDE-Bench, Table 3",
        columns=("model", *(f"{SET_NAMES[kind]} {name}".strip() for kind, name, _ in groups)),
        rows=[
            [model or "all", *(rate_of(dialogues, "DEA", model, kind, group) for kind, _, group in groups)]
            for model in dialogues.models
        ],
        note=f"{INTERVALS} f-protocol. {sizes(dialogues, groups)}",
    )


def dea_by(dialogues: Dialogues, name: str) -> Table:
    """DEA% by sample set and tier, or by counterfactual verdict."""
    values = dialogues.groups(name, TIERS if name == "tier" else VERDICTS)
    kinds = dialogues.taken("f")
    groups: list[Column] = [(kind, value, Group(**{name: value})) for kind in kinds for value in values]
    return Table(
        key=f"dea_by_{name}",
        title=f"DEA% by {name}",
        columns=("model", *(f"{SET_NAMES[kind]} {value}" for kind, value, _ in groups)),
        brief=1,
        rows=[
            [model or "all", *(rate_of(dialogues, "DEA", model, kind, group) for kind, _, group in groups)]
            for model in dialogues.models
        ],
        note=f"f-protocol. {sizes(dialogues, groups)}",
    )


def comparisons(dialogues: Dialogues) -> Table:
    """The headline comparison beside the other named ones, and on how many dialogues each disagrees with it."""
    rows: list[list[Cell]] = []
    flags = {name: dialogues.flags(lambda record, name=name: all_right(record, name)) for name in COMPARISONS}
    for kind in dialogues.taken("f"):
        part = dialogues.part(None, "f", kind)
        row: list[Cell] = [SET_NAMES[kind], dialogues.rate(part, flags[HEADLINE])]
        for name in BESIDE:
            differs = flags[name][part.rows] != flags[HEADLINE][part.rows]
            row += [dialogues.rate(part, flags[name]), int(differs.sum())]
        rows.append(row)
    table = Table(
        key="comparisons",
        title="DEA% by named comparison, all models",
        columns=("set", HEADLINE, *(column for name in BESIDE for column in (name, "differs on"))),
        rows=rows,
        note=f"{HEADLINE} is the paper's EX (§4.3): equal results modulo row order. f-protocol.",
    )
    return counted(table)


def by_subtype(dialogues: Dialogues, kind: Kind) -> list[Column]:
    """Return the columns of a sample set: each drift subtype that is planned, then all."""
    present = dialogues.groups("subtype", SUBTYPES)
    return [*((kind, subtype.capitalize(), Group(subtype=subtype)) for subtype in present), (kind, "All", ALL)]


def sizes(dialogues: Dialogues, groups: Sequence[Column], protocol: Protocol = "f") -> str:
    """Return how many samples each column plans for one model, in words: every rate's n unless it says otherwise."""
    model = dialogues.labels[0]
    shown = [
        f"{SET_NAMES[kind]} {name} {dialogues.part(model, protocol, kind, group).planned:,}".replace("  ", " ")
        for kind, name, group in groups
    ]
    return f"n per model: {', '.join(shown)}."


def rate_of(dialogues: Dialogues, metric: str, model: str | None, kind: Kind, group: Group = ALL) -> Rate:
    """Return a metric over a cell of the f-protocol."""
    return dialogues.rate(dialogues.part(model, "f", kind, group), dialogues.metrics[metric])


def columns_of(names: Sequence[str], kind: Kind) -> list[str]:
    """Return column titles that begin with the sample set's name."""
    return [f"{SET_NAMES[kind]} {name}" for name in names]

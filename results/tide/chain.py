"""What agents ask for: chain-layer identification and ask rates (Table 13), and what the router made of it."""

from __future__ import annotations

from collections import Counter
from typing import Final

from ...datasets.tide.metrics import METRICS
from ...datasets.tide.record import DialogueRecord, Protocol
from ...datasets.tide.samples import VERDICTS, Kind
from ...datasets.tide.simulator.situation import LOC, UNA
from ..table import Cell, Rate, Table, counted
from .accuracy import SET_NAMES, columns_of, sizes
from .dialogues import ALL, Dialogues, Group

_CHAIN = ("L1-IR", "L2-IRp", "JIR", "AR")
_PROTOCOL: Final[dict[str, Protocol]] = {metric.name: metric.protocol for metric in METRICS}

_CHAINED: Final[tuple[Kind, ...]] = ("chain", "joint")
_TABLE_13: Final[tuple[tuple[Kind, str], ...]] = (
    *((kind, name) for kind in _CHAINED for name in _CHAIN),
    ("drift", "AR"),
)


def identification(dialogues: Dialogues) -> Table:
    """L1-IR, L2-IR^p, JIR and AR per sample set (Table 13)."""
    columns: list[tuple[Kind, str]] = [(kind, name) for kind, name in _TABLE_13 if dialogues.has(_PROTOCOL[name], kind)]
    protocol: Protocol = "f" if dialogues.taken("f") else "p"
    return Table(
        key="identification",
        title="Chain-layer identification and ask rates (%)",
        source="TIDE-Bench, Table 13 and Figure 3",
        columns=("model", *(f"{SET_NAMES[kind]} {name}" for kind, name in columns)),
        rows=[
            [model or "all", *(_rate(dialogues, name, model, kind) for kind, name in columns)]
            for model in dialogues.models
        ],
        note="L2-IRp under the p-protocol, whose primed exchange counts for nothing; all others under the f-protocol. "
        f"{sizes(dialogues, [(kind, '', ALL) for kind in dialogues.taken(protocol)], protocol)}",
    )


def identification_by_verdict(dialogues: Dialogues) -> Table:
    """The same for chain-only samples, by the verdict of the counterfactual test."""
    verdicts = dialogues.groups("verdict", VERDICTS)
    names = [name for name in _CHAIN if dialogues.has(_PROTOCOL[name], "chain")]
    table = Table(
        key="identification_by_verdict",
        title="Identification on Chain-only samples by verdict (%)",
        columns=("verdict", "model", *columns_of(names, "chain")),
        labels=2,
        rows=[
            [
                verdict,
                model or "all",
                *(_rate(dialogues, name, model, "chain", Group(verdict=verdict)) for name in names),
            ]
            for verdict in verdicts
            for model in dialogues.models
        ],
    )
    return counted(table)


def router(dialogues: Dialogues) -> Table:
    """How often the router decided what, what was demoted, and how often the validator stepped in."""
    rows: list[list[Cell]] = []
    layers = sorted({"L1", "L2", *(layer for record in dialogues.records for layer in _layers(record))})
    for model in dialogues.labels:
        asked = [each for record in dialogues.records if record.model == model for each in record.asked]
        decided = Counter(each.decided for each in asked)
        faults = sum(record.model == model for record in dialogues.faults)
        rows.append(
            [
                model,
                len(asked),
                *(decided[aim] for aim in (*layers, LOC, UNA)),
                sum(each.decided != each.acted for each in asked),
                sum(each.rejected for each in asked),
                sum(each.neutral for each in asked),
                faults,
            ]
        )
    return Table(
        key="router",
        title="The user simulator: decisions and interventions, both protocols",
        source="TIDE-Bench, Appendix E",
        columns=(
            "model", "questions", *layers, LOC, UNA, "demoted", "answers rejected", "neutral answers",
            "dialogues unscored",
        ),
        rows=rows,
        note="demoted: a layer asked for while an earlier one was open, answered as Loc. A rejected answer was asked "
        "for again; after three more a neutral one stands in. Unscored: the simulator itself failed.",
    )  # fmt: skip


def _layers(record: DialogueRecord) -> set[str]:
    return {each.decided for each in record.asked} - {LOC, UNA}


def _rate(dialogues: Dialogues, name: str, model: str | None, kind: Kind, group: Group = ALL) -> Rate:
    return dialogues.rate(dialogues.part(model, _PROTOCOL[name], kind, group), dialogues.metrics[name])

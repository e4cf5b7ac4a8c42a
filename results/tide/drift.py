"""What agents make of a drift: recognition and resolution, the gap between them, and where errors come from."""

from __future__ import annotations

from collections import Counter
from typing import Final

from ...datasets.tide.metrics import paired, recognises, resolves, right_at
from ...datasets.tide.record import DialogueRecord
from ...datasets.tide.samples import Kind
from ..differences import UNCORRECTED, corrected
from ..table import Cell, Table, counted
from .accuracy import SET_NAMES, by_subtype, rate_of, sizes
from .dialogues import Dialogues

KINDS: Final[tuple[Kind, ...]] = ("drift", "joint")


def handling(dialogues: Dialogues) -> Table:
    """DRA by sample set and subtype, and DRR (Table 14)."""
    kinds = _present(dialogues)
    groups = [each for kind in kinds for each in by_subtype(dialogues, kind)]
    return Table(
        key="drift_handling",
        title="Drift handling (%)",
        source="TIDE-Bench, Table 14",
        columns=(
            "model",
            *(f"{SET_NAMES[kind]} DRA {name}" for kind, name, _ in groups),
            *(f"DRR {SET_NAMES[kind]}" for kind in kinds),
        ),
        rows=[
            [
                model or "all",
                *(rate_of(dialogues, "DRA", model, kind, group) for kind, _, group in groups),
                *(rate_of(dialogues, "DRR", model, kind) for kind in kinds),
            ]
            for model in dialogues.models
        ],
        note="DRA does not ask for a right first query. A missing or unparsable query is not recognised. f-protocol. "
        f"{sizes(dialogues, groups)}",
    )


def gap(dialogues: Dialogues) -> Table:
    """The recognition-resolution gap (§5.3): DRR minus DRA, and DRR where both queries can be compared."""
    comparable = dialogues.flags(paired)
    rows: list[list[Cell]] = []
    for kind in _present(dialogues):
        for model in dialogues.models:
            part = dialogues.part(model, "f", kind)
            recognised, resolved = dialogues.metrics["DRR"], dialogues.metrics["DRA"]
            rows.append(
                [
                    SET_NAMES[kind],
                    model or "all",
                    dialogues.rate(part, recognised),
                    dialogues.rate(part, resolved),
                    dialogues.difference(part, part, recognised, resolved),
                    dialogues.share(part.rows[comparable[part.rows]], recognised),
                ]
            )
    rows, tests = corrected(rows)
    table = Table(
        key="recognition_resolution_gap",
        title="The recognition-resolution gap",
        source="TIDE-Bench, §5.3",
        columns=("set", "model", "DRR%", "DRA%", "gap (points)", "DRR% of observed pairs"),
        labels=2,
        rows=rows,
        note=f"{_tested(tests)} Observed pairs: dialogues in which both queries are there and parse.",
    )
    return counted(table)


def drift_to_joint(dialogues: Dialogues) -> Table:
    """What the chain before it costs the same drift (§5.4, Figure 4): Joint minus Drift-only, triplet by triplet."""
    names = ("DRR", "DRA", "DEA")
    rows: list[list[Cell]] = []
    for model in dialogues.models:
        joint, drift = (dialogues.part(model, "f", kind) for kind in ("joint", "drift"))
        flags = [dialogues.metrics[name] for name in names]
        rows.append([model or "all", *(dialogues.difference(joint, drift, each, each) for each in flags)])
    rows, tests = corrected(rows)
    table = Table(
        key="drift_to_joint",
        title="From Drift-only to Joint, in percentage points",
        source="TIDE-Bench, §5.4 and Figure 4",
        columns=("model", *names),
        rows=rows,
        note=_tested(tests),
    )
    return counted(table)


def error_propagation(dialogues: Dialogues) -> Table:
    """Right before the drift × recognised × right after it, per sample set (Table 4, decision 37)."""
    states = [(pre, rec, post) for pre in (True, False) for rec in (True, False) for post in (True, False)]
    inherited = dialogues.flags(_inherits)
    exposed = dialogues.flags(lambda record: paired(record) and recognises(record) and not right_at(record, 0))
    rows: list[list[Cell]] = []
    for kind in _present(dialogues):
        for model in dialogues.models:
            part = dialogues.part(model, "f", kind)
            counts = Counter(map(_state, dialogues.of(part)))
            rows.append(
                [
                    SET_NAMES[kind],
                    model or "all",
                    len(part.rows),
                    *(counts[state] for state in states),
                    dialogues.share(part.rows[exposed[part.rows]], inherited),
                ]
            )
    return Table(
        key="error_propagation",
        title="Error propagation: right before, recognised, right after",
        source="TIDE-Bench, Table 4",
        columns=(
            "set",
            "model",
            "n",
            *("".join("+" if each else "-" for each in s) for s in states),
            "error inherited %",
        ),
        labels=2,
        rows=rows,
        note="Three signs: the query before the drift is right, the drift is recognised, the query after it is right. "
        "Inherited: of recognised drifts after a wrong first query, those whose query after is wrong too; in Joint, "
        "the chain's error lives on.",
    )


def _present(dialogues: Dialogues) -> list[Kind]:
    return dialogues.taken("f", KINDS)


def _state(record: DialogueRecord) -> tuple[bool, bool, bool]:
    after = all(right_at(record, stage) for stage in range(1, record.golds))
    return right_at(record, 0), recognises(record), after


def _inherits(record: DialogueRecord) -> bool:
    return recognises(record) and not right_at(record, 0) and not resolves(record)


def _tested(tests: int) -> str:
    return (
        "95 % interval for paired proportions; * p ≤ 0.05 when whole triplets flip signs, after Holm's correction for "
        f"the {tests} differences of this table. {UNCORRECTED} f-protocol."
    )

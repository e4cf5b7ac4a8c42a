"""What memory is worth, and what it costs: benefit by turn, the three-way ablation, contamination."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..differences import UNCORRECTED, corrected
from ..table import Cell, Table, counted
from .turns import ALL, Kind, Part, Turns

ABLATION: Final = (("window", "B_wm5", "B"), ("episodic", "C", "B_wm5"), ("semantic", "D", "C"), ("net", "D", "B"))
"""The three independent effects and their sum (section 5.2, Table 8)."""


def memory_benefit(turns: Turns) -> Table:
    """MBS: EX of a condition minus EX of A, in points, over all turns and by turn depth.

    Section 3.3, Figure 4, Table 12. The macro average weighs every source alike.
    """
    depths = [Kind(turn=depth) for depth in turns.depths]
    rows: list[list[Cell]] = [
        [
            condition,
            model or "all",
            turns.difference(model, condition, "A"),
            turns.macro(model, condition, "A"),
            *(turns.difference(model, condition, "A", kind) for kind in depths),
        ]
        for condition in turns.plan.conditions
        if condition != "A"
        for model in turns.models
    ]
    rows, tests = corrected(rows)
    return Table(
        key="mbs_by_turn",
        title="Memory Benefit Score: EX% minus EX% at A, in percentage points",
        source="EnterpriseMem-Bench, section 3.3 and Table 12",
        columns=("condition", "model", "all turns", "macro", *(f"T{depth}" for depth in turns.depths)),
        labels=2,
        brief=3,
        rows=rows,
        note=f"{_paired(tests)} macro: the mean over sources. Turns planned per model: {turns.sizes(depths)}.",
    )


def ablation(turns: Turns) -> Table:
    """The three-way ablation and its net, per model and source (Table 8)."""
    effects = present_effects(turns)
    kinds = {**{source: Kind(source=source) for source in turns.sources}, "all": ALL}
    rows: list[list[Cell]] = [
        [model or "all", source, *(turns.difference(model, of, minus, kind) for _, of, minus in effects)]
        for model in turns.models
        for source, kind in kinds.items()
    ]
    rows, tests = corrected(rows)
    table = Table(
        key="ablation",
        title="Three-way ablation, in percentage points of EX%",
        source="EnterpriseMem-Bench, section 5.2 and Table 8",
        columns=("model", "source", *(f"{name} ({of} - {minus})" for name, of, minus in effects)),
        labels=2,
        rows=rows,
        note=_paired(tests),
    )
    return counted(table)


def present_effects(turns: Turns) -> list[tuple[str, str, str]]:
    """Return the effects of the ablation whose two conditions were both planned."""
    present = set(turns.plan.conditions)
    return [effect for effect in ABLATION if {effect[1], effect[2]} <= present]


def contamination(turns: Turns) -> Table:
    """Wrong critical turns whose result is the neighbouring profile's (section 4.7, Appendix D)."""
    rows: list[list[Cell]] = []
    for model in turns.models:
        for condition in turns.plan.conditions:
            part = turns.part(model, condition).rows
            told = part[turns.tells_contamination[part]]
            wrong = int(np.count_nonzero(~turns.correct[told]))
            rows.append(
                [
                    model or "all",
                    condition,
                    len(told),
                    wrong,
                    turns.rate(Part(told, len(told)), turns.contaminated),
                    turns.rate(Part(told, len(told)), turns.echoed),
                ]
            )
    return Table(
        key="contamination",
        title="Cross-session contamination",
        source="EnterpriseMem-Bench, section 4.7 and Appendix D",
        columns=("model", "condition", "turns", "wrong", "fallback's result %", "shown episode's result %"),
        labels=2,
        rows=rows,
        note=(
            "Of scored critical turns whose gold and fallback results differ. A sees nothing: it is the chance level. "
            "Beside it: the result is that of the turn's own template with the values of an episode that was shown."
        ),
    )


def _paired(tests: int) -> str:
    return (
        "Over turns scored in both conditions; 95 % interval for paired proportions at the effective sample size, "
        "clusters as for EX%. * p ≤ 0.05 when whole sessions flip signs, after Holm's correction for the "
        f"{tests} differences of this table. {UNCORRECTED}"
    )

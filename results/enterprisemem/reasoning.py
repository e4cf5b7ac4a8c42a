"""The same model with and without reasoning (Tables 9 and 14)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ...adapters.capabilities import capability
from ..differences import UNCORRECTED, corrected
from ..reading import ModelIdentity
from ..table import Cell, Table, counted
from .turns import Turns

Pair = tuple[str, str]
"""The labels of one model in standard mode and in reasoning mode."""


def reasons(model: ModelIdentity) -> bool:
    """Return whether the model reasons: because its options say so, or by itself (docs/models.md).

    A model of which nothing is known counts as its options say.
    """
    options = model.options
    if (known := capability(model.id)) and known.reasoning:
        return known.reasons(options)
    return bool(
        options.get("thinking", "disabled") != "disabled"
        or options.get("thinking_budget")
        or options.get("reasoning_effort", "none") != "none"
    )


def modes(models: Iterable[ModelIdentity]) -> Iterator[Pair]:
    """Yield every two entries of the sweep that ask one model, one of them to reason."""
    by_id: defaultdict[str, list[ModelIdentity]] = defaultdict(list)
    for model in models:
        by_id[model.id].append(model)
    for same in by_id.values():
        for standard in same:
            for reasoning in same:
                if reasons(reasoning) and not reasons(standard):
                    yield standard.label, reasoning.label


def comparison(turns: Turns, pairs: Iterable[Pair]) -> Table:
    """EX% in standard and in reasoning mode, per condition; the paper has condition B."""
    rows: list[list[Cell]] = [
        [
            standard,
            reasoning,
            condition,
            turns.rate(turns.part(standard, condition)),
            turns.rate(turns.part(reasoning, condition)),
            turns.between(reasoning, standard, condition),
        ]
        for standard, reasoning in pairs
        for condition in turns.plan.conditions
    ]
    rows, tests = corrected(rows)
    table = Table(
        key="reasoning",
        title="Standard mode against reasoning mode, EX%",
        source="EnterpriseMem-Bench, Tables 9 and 14",
        columns=("standard", "reasoning", "condition", "EX% standard", "EX% reasoning", "gained (points)"),
        labels=3,
        rows=rows,
        note="Over turns scored in both modes; * p ≤ 0.05 when whole sessions flip signs, after Holm's correction for "
        f"the {tests} differences of this table. {UNCORRECTED}",
    )
    return counted(table)

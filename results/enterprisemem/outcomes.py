"""What turns came to besides right and wrong: the six categories, finer labels, the other comparisons."""

from __future__ import annotations

from collections import Counter
from typing import Final, cast

import numpy as np

from ...datasets.enterprisemem.scoring import HEADLINE
from ...engine.comparison import COMPARISONS
from ..table import Cell, Table
from .turns import CATEGORIES, Codes, Kind, Turns

BESIDE: Final = tuple(name for name in COMPARISONS if name != HEADLINE)
WRONG: Final = CATEGORIES.index("wrong_result")
LISTED: Final = 20
"""Rows of a long table that the text shows; `--table KEY` and the JSON hold all."""


def errors(turns: Turns) -> Table:
    """The six categories per model and condition (Table 5), with WR% (Table 10)."""
    rows: list[list[Cell]] = []
    for model in turns.models:
        for condition in turns.plan.conditions:
            part = turns.part(model, condition).rows
            failed, wrong = part[~turns.correct[part]], turns.category == WRONG
            shares = turns.share(part, wrong), turns.share(failed, wrong)
            rows.append([model or "all", condition, *_counts(turns, part), *shares])
    return Table(
        key="errors",
        title="Outcomes by category",
        source="EnterpriseMem-Bench, Tables 5 and 10",
        columns=("model", "condition", *CATEGORIES, "WR% of turns", "WR% of errors"),
        labels=2,
        brief=2,
        rows=rows,
        note="cut (at the token limit) and refused (by the provider) are outside the paper's six and count as wrong.",
    )


def failures_by_turn(turns: Turns) -> Table:
    """How many turns of each depth gave no result at all, by category (section 6.4: preambles on even turns)."""
    rows: list[list[Cell]] = []
    for model in turns.models:
        for condition in turns.plan.conditions:
            parts = [turns.part(model, condition, Kind(turn=depth)).rows for depth in turns.depths]
            counts = np.array([_counts(turns, part) for part in parts])
            rows.extend(
                [model or "all", condition, category, *column.tolist(), int(column.sum())]
                for category, column in zip(CATEGORIES, counts.T, strict=True)
                if category not in ("correct", "wrong_result") and column.any()
            )
    rows.sort(key=lambda row: -cast("int", row[-1]))
    return Table(
        key="failures_by_turn",
        title="Turns without a result, by turn",
        source="EnterpriseMem-Bench, section 6.4",
        columns=("model", "condition", "category", *(f"T{depth}" for depth in turns.depths), "all turns"),
        labels=3,
        excerpt=LISTED,
        rows=rows,
    )


def details(turns: Turns) -> Table:
    """The finer labels of failed turns: which bound was hit, who refused."""
    counts = Counter(
        (record.model, record.condition, record.category, record.detail)
        for record in turns.records
        if record.detail not in ("", record.category)
    )
    return Table(
        key="details",
        title="Failed turns by their finer label",
        columns=("model", "condition", "category", "label", "turns"),
        labels=4,
        rows=[[*labels, count] for labels, count in counts.items()],
    )


def comparisons(turns: Turns) -> Table:
    """The headline beside the other named comparisons, and on how many turns each disagrees with it."""
    rows: list[list[Cell]] = []
    for condition in turns.plan.conditions:
        part = turns.part(None, condition)
        row: list[Cell] = [condition, turns.rate(part, turns.agree[HEADLINE])]
        for name in BESIDE:
            differs = turns.agree[name][part.rows] != turns.agree[HEADLINE][part.rows]
            row += [turns.rate(part, turns.agree[name]), int(differs.sum())]
        rows.append(row)
    return Table(
        key="comparisons",
        title="EX% by named comparison, all models",
        columns=("condition", HEADLINE, *(column for name in BESIDE for column in (name, "differs on"))),
        rows=rows,
        note=f"{HEADLINE} is the paper's EX (section 3.3). differs on: turns on which it and {HEADLINE} disagree.",
    )


def disagreements(turns: Turns) -> Table:
    """The turns on which another comparison disagrees with the headline: how many answers to each, of how many."""
    asked = Counter((record.source, record.session, record.turn) for record in turns.records)
    found: dict[tuple[str, str, int], Counter[str]] = {}
    for name in BESIDE:
        for row in np.flatnonzero(turns.agree[name] != turns.agree[HEADLINE]):
            record = turns.records[row]
            found.setdefault((record.source, record.session, record.turn), Counter())[name] += 1
    return Table(
        key="disagreements",
        title=f"Turns on which a comparison disagrees with {HEADLINE}",
        columns=("source", "session", "turn", *BESIDE, "answers"),
        labels=3,
        excerpt=LISTED,
        rows=[[*turn, *(found[turn][name] for name in BESIDE), asked[turn]] for turn in sorted(found)],
        note="How many of the answers to a turn, over all models and conditions, the two judge differently.",
    )


def _counts(turns: Turns, rows: Codes) -> list[int]:
    return np.bincount(turns.category[rows], minlength=len(CATEGORIES)).tolist()

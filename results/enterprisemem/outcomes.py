"""What turns came to besides right and wrong: the six categories, finer labels, the other comparisons."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from ...datasets.enterprisemem.scoring import HEADLINE
from ...engine.sql.comparison import COMPARISONS
from ..table import Cell, Table, counted
from .turns import CATEGORIES, Codes, Kind, Turns

BESIDE: Final = tuple(name for name in COMPARISONS if name != HEADLINE)
WRONG: Final = CATEGORIES.index("wrong_result")
LISTED: Final = 20
"""Rows of a long table that the text shows; `--table KEY` and the JSON hold all."""


def errors(turns: Turns) -> Table:
    """The six categories per model and condition (Table 5), and what stands outside them."""
    rows: list[list[Cell]] = []
    for model in turns.models:
        for condition in turns.plan.conditions:
            part = turns.part(model, condition)
            unscored = part.planned - len(part.rows)
            rows.append([model or "all", condition, len(part.rows), *_counts(turns, part.rows), unscored])
    return Table(
        key="errors",
        title="Outcomes by category",
        source="EnterpriseMem-Bench, Table 5",
        columns=("model", "condition", "scored", *(name.replace("_", " ") for name in CATEGORIES), "unscored"),
        labels=2,
        rows=rows,
        note="cut (at the token limit) and refused (by the provider) are outside the paper's six and count as wrong. "
        "unscored: a provider failed, or the run did not come so far.",
    )


def wrong_results(turns: Turns) -> Table:
    """WR%: queries that run and give another result, of all turns (Table 10) and of all errors (section 6.4)."""
    wrong = turns.category == WRONG
    rows: list[list[Cell]] = []
    for model in turns.models:
        parts = [turns.part(model, condition) for condition in turns.plan.conditions]
        rows.append([model or "all", "turns", *(turns.rate(part, wrong) for part in parts)])
        failed = [part.rows[~turns.correct[part.rows]] for part in parts]
        rows.append([model or "all", "errors", *(turns.share(each, wrong) for each in failed)])
    table = Table(
        key="wrong_results",
        title="Wrong results (WR%): of all turns, and of all errors",
        source="EnterpriseMem-Bench, Table 10 and section 6.4",
        columns=("model", "of", *turns.plan.conditions),
        labels=2,
        rows=rows,
        note="A wrong result is a query that runs and returns something else.",
    )
    return counted(table)


def errors_by_turn(turns: Turns) -> Table:
    """The share of each category of error at each depth (section 6.4: preambles on even turns)."""
    kinds = [Kind(turn=depth) for depth in turns.depths]
    rows: list[tuple[int, list[Cell]]] = []
    for model in turns.plan.models:
        for condition in turns.plan.conditions:
            whole, parts = turns.part(model, condition), [turns.part(model, condition, kind) for kind in kinds]
            for code, category in enumerate(CATEGORIES):
                flags = turns.category == code
                count = int(np.count_nonzero(flags[whole.rows]))
                if count and category != "correct":
                    rates = [turns.rate(part, flags) for part in parts]
                    rows.append((count, [model, condition, category.replace("_", " "), count, *rates]))
    rows.sort(key=lambda row: -row[0])
    return Table(
        key="errors_by_turn",
        title="Errors by turn: the share of each depth's turns that ended so, the commonest first",
        source="EnterpriseMem-Bench, section 6.4",
        columns=("model", "condition", "category", "errors", *(f"T{depth}" for depth in turns.depths)),
        labels=3,
        brief=4,
        excerpt=LISTED,
        rows=[row for _, row in rows],
        note=f"Percent. Turns planned per cell: {turns.sizes(kinds)}.",
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
    table = Table(
        key="comparisons",
        title="EX% by named comparison, all models",
        columns=("condition", HEADLINE, *(column for name in BESIDE for column in (name, "differs on"))),
        rows=rows,
        note=f"{HEADLINE} is the paper's EX (section 3.3). differs on: turns on which it and {HEADLINE} disagree.",
    )
    return counted(table)


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

"""The paper's tables, each from the scored turns alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...datasets.enterprisemem.taxonomy import OUTSIDE, SIX
from ..table import Cell, Table
from .turns import Turns, Where, rate, share

ABLATION: Final = (("window", "B_wm5", "B"), ("episodic", "C", "B_wm5"), ("semantic", "D", "C"), ("net", "D", "B"))
"""The three independent effects and their sum (section 5.2, Table 8)."""


def tables(turns: Turns) -> Iterator[Table]:
    """Yield every table that the run's conditions allow, in the order in which they are read."""
    yield completeness(turns)
    yield by_condition(turns)
    yield by_source(turns)
    yield by_tier(turns)
    yield by_turn(turns)
    if "A" in turns.plan.conditions and len(turns.plan.conditions) > 1:
        yield memory_benefit(turns)
    if len(_effects(turns)) > 0:
        yield ablation(turns)
    yield errors(turns)
    if set(turns.plan.conditions) - {"A"}:
        yield contamination(turns)
    yield comparisons(turns)
    yield cost(turns)


def completeness(turns: Turns) -> Table:
    """Scored and planned turns per model: what every number below rests on."""
    rows: list[list[Cell]] = []
    for model in turns.plan.models:
        whole = turns.rate(model)
        worst = 100 * whole.hits / whole.planned if whole.planned else None
        best = 100 * (whole.hits + whole.planned - whole.scored) / whole.planned if whole.planned else None
        rows.append([model, whole.scored, whole.planned, whole, worst, best])
    return Table(
        key="completeness",
        title="Scored turns, and EX% as it is and as it could still be",
        columns=("model", "scored", "planned", "EX%", "if all missing fail", "if all missing succeed"),
        rows=rows,
    )


def by_condition(turns: Turns) -> Table:
    """EX% per model and condition over all turns (Table 6)."""
    return Table(
        key="ex_by_condition",
        title="EX% by condition",
        source="EnterpriseMem-Bench, Table 6",
        columns=("model", *turns.plan.conditions),
        rows=[
            [model or "all", *(turns.rate(model, condition) for condition in turns.plan.conditions)]
            for model in _models(turns)
        ],
        note="Percent of scored turns with Wilson's 95 % interval.",
    )


def by_source(turns: Turns) -> Table:
    """EX% per source, model and condition."""
    sources = dict.fromkeys(kind.source for kind in turns.plan.turns)
    return Table(
        key="ex_by_source",
        title="EX% by source",
        columns=("source", "model", *turns.plan.conditions),
        labels=2,
        rows=[
            [source, model or "all", *(turns.rate(model, c, source=source) for c in turns.plan.conditions)]
            for source in sources
            for model in _models(turns)
        ],
    )


def by_tier(turns: Turns) -> Table:
    """EX% per tier (1, 4, and 9 or 10 turns), model and condition."""
    tiers = sorted({kind.tier for kind in turns.plan.turns})
    return Table(
        key="ex_by_tier",
        title="EX% by tier",
        columns=("tier", "model", *turns.plan.conditions),
        labels=2,
        rows=[
            [f"T{tier}", model or "all", *(turns.rate(model, c, tier=tier) for c in turns.plan.conditions)]
            for tier in tiers
            for model in _models(turns)
        ],
    )


def by_turn(turns: Turns) -> Table:
    """EX% per turn depth (Tables 7 and 13), for every condition."""
    depths = _depths(turns)
    return Table(
        key="ex_by_turn",
        title="EX% by turn",
        source="EnterpriseMem-Bench, Tables 7 and 13",
        columns=("condition", "model", *(f"T{depth}" for depth in depths)),
        labels=2,
        rows=[
            [condition, model or "all", *(_percent(turns, model, condition, depth) for depth in depths)]
            for condition in turns.plan.conditions
            for model in _models(turns)
        ],
        note=f"Percent; turns planned per cell: {_planned_per_turn(turns, depths)}.",
    )


def memory_benefit(turns: Turns) -> Table:
    """MBS by turn depth: EX of a condition minus EX of A, in points (section 3.3, Figure 4, Table 12)."""
    depths = _depths(turns)
    return Table(
        key="mbs_by_turn",
        title="Memory Benefit Score by turn: EX% minus EX% at A, in percentage points",
        source="EnterpriseMem-Bench, section 3.3 and Table 12",
        columns=("condition", "model", "all turns", *(f"T{depth}" for depth in depths)),
        labels=2,
        rows=[
            [
                condition,
                model or "all",
                turns.difference(model, condition, "A"),
                *(_points(turns, model, condition, depth) for depth in depths),
            ]
            for condition in turns.plan.conditions
            if condition != "A"
            for model in _models(turns)
        ],
        note="Pooled over turns scored in both conditions; 95 % interval robust to clustering by session.",
    )


def ablation(turns: Turns) -> Table:
    """The three-way ablation and its net, per model and source (Table 8)."""
    effects = _effects(turns)
    sources: list[str | None] = [*dict.fromkeys(kind.source for kind in turns.plan.turns), None]
    return Table(
        key="ablation",
        title="Three-way ablation, in percentage points of EX%",
        source="EnterpriseMem-Bench, section 5.2 and Table 8",
        columns=("model", "source", *(f"{name} ({of} - {minus})" for name, of, minus in effects)),
        labels=2,
        rows=[
            [
                model or "all",
                source or "all",
                *(
                    turns.difference(model, of, minus, lambda record, source=source: source in (None, record.source))
                    for _, of, minus in effects
                ),
            ]
            for model in _models(turns)
            for source in sources
        ],
        note="Paired by turn; 95 % interval robust to clustering by session.",
    )


def errors(turns: Turns) -> Table:
    """The six categories per model and condition (Table 5), with WR% (Table 10)."""
    rows: list[list[Cell]] = []
    for model in _models(turns):
        for condition in turns.plan.conditions:
            counts = turns.categories(model, condition)
            scored = sum(counts.values())
            wrong = scored - counts["correct"]
            share_of_errors = 100 * counts["wrong_result"] / wrong if wrong else None
            wr = rate(counts["wrong_result"], scored, scored)
            rows.append([model or "all", condition, *(counts[name] for name in (*SIX, *OUTSIDE)), wr, share_of_errors])
    return Table(
        key="errors",
        title="Outcomes by category",
        source="EnterpriseMem-Bench, Tables 5 and 10",
        columns=("model", "condition", *SIX, *OUTSIDE, "WR% of turns", "WR% of errors"),
        labels=2,
        rows=rows,
        note="cut (at the token limit) and refused (by the provider) are outside the paper's six and count as wrong.",
    )


def contamination(turns: Turns) -> Table:
    """Wrong critical turns whose result is the neighbouring profile's (section 4.7, Appendix D)."""
    rows: list[list[Cell]] = []
    for model in _models(turns):
        for condition in turns.plan.conditions:
            told = [record for record in turns.cell(model, condition) if record.fallback in ("matched", "other")]
            hits, total = share(told, lambda record: record.fallback == "matched")
            echoes, _ = share(told, lambda record: record.echoed is not None)
            wrong, _ = share(told, lambda record: not record.correct)
            rows.append([model or "all", condition, total, wrong, rate(hits, total, total), rate(echoes, total, total)])
    return Table(
        key="contamination",
        title="Cross-session contamination",
        source="EnterpriseMem-Bench, section 4.7 and Appendix D",
        columns=("model", "condition", "turns", "wrong", "fallback's result %", "a shown episode's result %"),
        labels=2,
        rows=rows,
        note="Critical turns whose gold and fallback results differ. A sees nothing: it is the chance level.",
    )


def comparisons(turns: Turns) -> Table:
    """The headline beside the other named comparisons, and on how many turns each disagrees with it."""
    rows: list[list[Cell]] = []
    for condition in turns.plan.conditions:
        records = list(turns.cell(None, condition))
        row: list[Cell] = [condition, rate(*share(records, _agrees("strict")), turns.planned(None, condition, _any))]
        for name in ("multiset", "bird", "ordered"):
            hits, total = share(records, _agrees(name))
            differ, _ = share(records, lambda each, name=name: each.agree.get(name) != each.agree.get("strict"))
            row += [rate(hits, total, turns.planned(None, condition, _any)), differ]
        rows.append(row)
    return Table(
        key="comparisons",
        title="EX% by named comparison, all models",
        columns=("condition", "strict", "multiset", "differs on", "bird", "differs on", "ordered", "differs on"),
        rows=rows,
        note="strict is the paper's EX (section 3.3). differs on: turns on which it and strict disagree.",
    )


def cost(turns: Turns) -> Table:
    """Tokens and money of the answers that count."""
    rows: list[list[Cell]] = []
    for model in turns.plan.models:
        for condition in turns.plan.conditions:
            spent = turns.spent[model, condition]
            usd = f"{spent.usd:.6f}" if not spent.unpriced else f"{spent.usd:.6f} + {spent.unpriced} unpriced"
            rows.append(
                [model, condition, spent.answers, spent.input_tokens, spent.output_tokens, spent.reasoning_tokens, usd]
            )
    return Table(
        key="cost",
        title="Answers, tokens and cost",
        columns=("model", "condition", "answers", "input tokens", "output tokens", "of them reasoning", "USD"),
        labels=2,
        rows=rows,
    )


def _models(turns: Turns) -> list[str | None]:
    models: list[str | None] = [*turns.plan.models]
    return [*models, None] if len(models) > 1 else models


def _depths(turns: Turns) -> list[int]:
    return sorted({kind.turn for kind in turns.plan.turns})


def _effects(turns: Turns) -> list[tuple[str, str, str]]:
    present = set(turns.plan.conditions)
    return [effect for effect in ABLATION if {effect[1], effect[2]} <= present]


def _percent(turns: Turns, model: str | None, condition: str, turn: int) -> str:
    found = turns.rate(model, condition, turn=turn)
    return f"{100 * found.hits / found.scored:.1f}" if found.scored else "-"


def _points(turns: Turns, model: str | None, condition: str, turn: int) -> str:
    found = turns.difference(model, condition, "A", lambda record: record.turn == turn)
    return "-" if found.points is None else f"{found.points:+.1f}"


def _planned_per_turn(turns: Turns, depths: list[int]) -> str:
    counts = (sum(kind.count for kind in turns.plan.turns if kind.turn == depth) for depth in depths)
    return ", ".join(f"T{depth} {count * turns.plan.repeats}" for depth, count in zip(depths, counts, strict=True))


def _agrees(name: str) -> Where:
    return lambda record: record.agree.get(name, False)


def _any(kind: object) -> bool:
    return True

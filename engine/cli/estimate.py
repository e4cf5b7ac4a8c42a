"""`--dry-run`: what a run would send, cost and take, from its real prompts. Nothing is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

from ...adapters.base import Json, Message, Provider, Question, Usage
from ...adapters.prices import Price, PriceTable
from ..choices import resolved_auxiliary
from ..rehearsal import NoDatabase, rehearse
from ..route import most
from ..routes import price_of, spoken
from ..spec import ModelSpec, Settings, Spec
from ..unit import Experiment, Unit
from .launch import benchmark_of, run_loop
from .words import clock

BYTES_PER_TOKEN: Final = 4
SECONDS_PER_CALL: Final = 2.0
"""What a call is taken to last where nothing was measured yet; it decides only how long ordered lanes are."""


@dataclass(slots=True)
class Cell:
    """What one cell (a model under one condition or protocol) would send. `high` is the bound that a cap reserves."""

    calls: int = 0
    dialogues: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    low: Decimal = Decimal(0)
    high: Decimal = Decimal(0)


@dataclass(slots=True)
class Estimate:
    """Cells by (model, labels), the longest ordered lane of each model in calls, and the models that have no price, or
    no bound on what they may write. `models` holds auxiliary ones too, which have calls and no dialogues of their own.
    """

    models: dict[str, ModelSpec] = field(default_factory=dict[str, ModelSpec])
    cells: dict[tuple[str, ...], Cell] = field(default_factory=dict[tuple[str, ...], Cell])
    unpriced: set[str] = field(default_factory=set[str])
    unbounded: set[str] = field(default_factory=set[str])
    lane: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a model is asked, by which name, with which options, and what it costs."""

    provider: Provider
    name: str
    sent: Mapping[str, Json]
    price: Price | None


def estimate(spec: Spec, *, as_json: bool) -> int:
    """Print the estimate and return 0."""
    found = run_loop(_estimate(spec))
    print(json.dumps(_as_json(spec, found)) if as_json else _as_text(spec, found))
    return 0


async def _estimate(spec: Spec) -> Estimate:
    found = Estimate()
    async with benchmark_of(spec).open(spec.options, seed=spec.seed, limit=spec.limit) as experiment:
        auxiliary = resolved_auxiliary(spec, experiment.auxiliary)
        quotes = {model.name: _quote(spec, model, found) for model in (*spec.models, *auxiliary)}
        for model in spec.models:
            await _measure(spec, model, experiment, found, quotes)
    return found


def _quote(spec: Spec, model: ModelSpec, found: Estimate) -> Quote:
    provider, name, sent = spoken(model)
    prices = PriceTable.load(*([Path(spec.settings.prices)] if spec.settings.prices else []))
    cap = Decimal(spec.settings.max_cost) if spec.settings.max_cost else None
    price = price_of(prices, model, provider, cap)
    if price is None:
        found.unpriced.add(model.name)
    elif most(price, 0, sent) is None:
        found.unbounded.add(model.name)
    found.models[model.name] = model
    return Quote(provider, name, sent, price)


async def _measure(
    spec: Spec, model: ModelSpec, experiment: Experiment, found: Estimate, quotes: Mapping[str, Quote]
) -> None:
    def heard(unit: Unit, asked: str, messages: Sequence[Message], options: dict[str, Json], answer: str) -> None:
        quote = quotes[asked]
        question = Question(model=quote.name, messages=tuple(messages), options={**quote.sent, **options})
        cell = found.cells.setdefault((asked, *unit.labels.values()), Cell())
        _add(cell, len(quote.provider.wire.build(question).body), answer, question.options, quote.price)

    for unit, _ in await rehearse(experiment, model.name, spec.repeats, NoDatabase(), heard):
        found.cells[(model.name, *unit.labels.values())].dialogues += 1
    found.lane[model.name] = max(
        (sum(max(unit.turns for unit in step) for step in lane) for lane in experiment.lanes(model.name, 1)), default=0
    )


def _add(cell: Cell, size: int, answer: str, options: Mapping[str, Json], price: Price | None) -> None:
    usage = Usage(input_tokens=size // BYTES_PER_TOKEN, output_tokens=max(1, len(answer) // BYTES_PER_TOKEN))
    cell.calls += 1
    cell.input_tokens += usage.input_tokens
    cell.output_tokens += usage.output_tokens
    if price:
        cell.low += price.cost(usage)
        cell.high += most(price, size, options) or price.cost(usage)


def wall_seconds(calls: int, tokens: int, lane: int, model: ModelSpec, settings: Settings) -> float:
    """Return the seconds that the limits allow at best: by requests, by tokens, by calls at once, by ordered lanes."""
    rpm, tpm = model.rpm or settings.rpm, model.tpm or settings.tpm
    at_once = min(settings.concurrency, model.in_flight or settings.in_flight)
    return max(
        calls * 60 / rpm if rpm else 0.0,
        tokens * 60 / tpm if tpm else 0.0,
        calls * SECONDS_PER_CALL / at_once,
        lane * SECONDS_PER_CALL,
    )


def _totals(spec: Spec, found: Estimate) -> dict[str, tuple[Cell, float]]:
    totals: dict[str, tuple[Cell, float]] = {}
    for label, model in found.models.items():
        total = Cell()
        for key, cell in found.cells.items():
            if key[0] == label:
                for name in Cell.__slots__:
                    setattr(total, name, getattr(total, name) + getattr(cell, name))
        tokens = total.input_tokens + total.output_tokens
        seconds = wall_seconds(total.calls, tokens, found.lane.get(label, 0), model, spec.settings)
        totals[label] = total, seconds
    return totals


def _as_text(spec: Spec, found: Estimate) -> str:
    from ...results.table import Cell as Shown
    from ...results.table import Table
    from ...results.text import render

    rows: list[list[Shown]] = []
    for name, (total, seconds) in _totals(spec, found).items():
        usd = "no price known" if name in found.unpriced else f"{total.low:.4f} to {total.high:.4f}"
        if name in found.unbounded:
            usd = f"{total.low:.4f} and up: no --max-tokens"
        rows.append([name, total.dialogues, total.calls, total.input_tokens, total.output_tokens, usd, clock(seconds)])
    cells: list[list[Shown]] = [
        [" ".join(key), cell.dialogues, cell.calls, cell.input_tokens, cell.output_tokens]
        for key, cell in found.cells.items()
    ]
    columns = ("model", "dialogues", "calls", "input tokens", "output tokens", "USD", "wall time")
    text = render(
        [
            Table(key="cells", title="Cells", columns=("cell", *columns[1:5]), rows=cells),
            Table(
                key="models",
                title="Dry run: nothing was sent",
                columns=columns,
                rows=rows,
                note=(
                    f"{BYTES_PER_TOKEN} bytes a token; answers as long as gold, without reasoning. USD: expected to at "
                    f"most. Wall time: at the configured limits, {SECONDS_PER_CALL:g} s a call."
                ),
            ),
        ]
    )
    low = sum((total.low for total, _ in _totals(spec, found).values()), Decimal(0))
    high = sum((total.high for total, _ in _totals(spec, found).values()), Decimal(0))
    return f"{text}In total ${low:.4f} to ${high:.4f} at the prices of {datetime.now(UTC).date()}."


def _as_json(spec: Spec, found: Estimate) -> dict[str, Json]:
    models: dict[str, Json] = {
        name: {
            "dialogues": total.dialogues,
            "calls": total.calls,
            "input_tokens": total.input_tokens,
            "output_tokens": total.output_tokens,
            "usd_low": None if name in found.unpriced else str(total.low),
            "usd_high": None if name in found.unpriced | found.unbounded else str(total.high),
            "wall_seconds": round(seconds, 1),
        }
        for name, (total, seconds) in _totals(spec, found).items()
    }
    cells: list[Json] = [{"cell": list(key), "calls": cell.calls} for key, cell in found.cells.items()]
    return {"models": models, "cells": cells}

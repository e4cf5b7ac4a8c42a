"""`--dry-run`: what a run would send, cost and take, from its real prompts. Nothing is sent."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from ...adapters.base import Json, Message, Question, Usage
from ...adapters.prices import Price, PriceTable
from ...adapters.provider import Provider
from ..again.forecast import Call, Forecast
from ..again.rehearsal import NoDatabase, rehearse
from ..calls.choices import resolved_auxiliary
from ..calls.route import BYTES_PER_TOKEN, most, reserved_tokens
from ..calls.routes import price_of, spoken
from ..registry import benchmark_of
from ..spec import ModelSpec, Spec
from ..system.loop import run_loop
from ..unit import Experiment, Unit
from .estimate_time import Latency, Talks, latency_of, wall
from .words import clock
from .working import Working


@dataclass(slots=True)
class Cell:
    """What one cell (a model under one condition or protocol) would send. `high` is the bound that a cap reserves."""

    calls: int = 0
    dialogues: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    low: Decimal = Decimal(0)
    high: Decimal = Decimal(0)

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens

    @classmethod
    def total(cls, cells: Iterable[Cell]) -> Cell:
        """Return the sum of cells."""
        total = cls()
        for cell in cells:
            for each in fields(cls):
                setattr(total, each.name, getattr(total, each.name) + getattr(cell, each.name))
        return total


@dataclass(slots=True)
class Estimate:
    """Cells by (model, labels), the longest ordered lane of each model in its own calls, and the models that have no
    price, or no bound on what they may write. `chain` is the longest lane in the calls of all that its dialogues ask.
    `models` holds auxiliary ones too, which have calls and no dialogues of their own.
    `accounts` are models that share limits: those of one provider, and each auxiliary one alone; `talks` are all
    dialogues, call by call, each of which is taken to last as `latency` says.
    """

    talks: Talks
    latency: Latency
    models: dict[str, ModelSpec] = field(default_factory=dict[str, ModelSpec])
    cells: dict[tuple[str, ...], Cell] = field(default_factory=dict[tuple[str, ...], Cell])
    unpriced: set[str] = field(default_factory=set[str])
    unbounded: set[str] = field(default_factory=set[str])
    lane: dict[str, int] = field(default_factory=dict[str, int])
    chain: int = 0
    accounts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def wall(self, spec: Spec, models: Collection[str]) -> Forecast:
        """Return how long the dialogues of these models take side by side."""
        first = {account: self.models[labels[0]] for account, labels in self.accounts.items()}
        return wall(spec, self.talks, first, models)


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a model is asked, by which name, with which options, and what it costs."""

    provider: Provider
    name: str
    sent: Mapping[str, Json]
    price: Price | None


def estimate(spec: Spec, *, as_json: bool, latency: str | None = None) -> int:
    """Print the estimate and return 0; `latency` is how long a call takes, or the folder of a run that measured it."""
    with Working("talking every dialogue through with the expected answers"):
        found = run_loop(_estimate(spec, latency))
        print(json.dumps(_as_json(spec, found)) if as_json else _as_text(spec, found))
    return 0


async def _estimate(spec: Spec, latency: str | None) -> Estimate:
    async with benchmark_of(spec.benchmark).open(spec.options, seed=spec.seed, limit=spec.limit) as experiment:
        auxiliary = resolved_auxiliary(spec, experiment.auxiliary)
        labels = [model.name for model in (*spec.models, *auxiliary)]
        found = Estimate(Talks(spec.shards), latency_of(latency, labels))
        quotes = {model.name: _quote(spec, model, found) for model in (*spec.models, *auxiliary)}
        for model in spec.models:
            found.accounts.setdefault(quotes[model.name].provider.name, []).append(model.name)
        found.accounts |= {model.name: [model.name] for model in auxiliary}
        for model in spec.models:
            await _measure(spec, model, experiment, found, quotes)
    return found


def _quote(spec: Spec, model: ModelSpec, found: Estimate) -> Quote:
    provider, name, sent = spoken(model)
    prices = PriceTable.load(*([Path(spec.settings.prices)] if spec.settings.prices else []))
    price = price_of(prices, model, provider, spec.settings.cap, batch=spec.settings.batch)
    if price is None:
        found.unpriced.add(model.name)
    elif most(price, 0, sent) is None:
        found.unbounded.add(model.name)
    found.models[model.name] = model
    return Quote(provider, name, sent, price)


async def _measure(
    spec: Spec, model: ModelSpec, experiment: Experiment, found: Estimate, quotes: Mapping[str, Quote]
) -> None:
    calls: defaultdict[str, Counter[str]] = defaultdict(Counter)
    accounts = {label: account for account, labels in found.accounts.items() for label in labels}

    def heard(unit: Unit, asked: str, messages: Sequence[Message], options: dict[str, Json], answer: str) -> None:
        quote = quotes[asked]
        question = Question(model=quote.name, messages=tuple(messages), options={**quote.sent, **options})
        calls[asked][unit.key] += 1
        cell = found.cells.setdefault((asked, *unit.labels.values()), Cell())
        size = len(quote.provider.wire.build(question).body)
        usage = _usage(size, answer)
        _add(cell, usage, size, question.options, quote.price)
        used, reserved = usage.input_tokens + usage.output_tokens, reserved_tokens(size, question.options)
        found.talks.hear(unit.key, Call(accounts[asked], reserved, used, found.latency.of(asked)))

    for unit, _ in await rehearse(experiment, model.name, spec.repeats, NoDatabase(), heard):
        found.cells[(model.name, *unit.labels.values())].dialogues += 1
    found.talks.order(experiment, model.name, spec.repeats)
    for asked, own in calls.items():
        found.lane[asked] = max(found.lane.get(asked, 0), _longest(experiment, model.name, own))
    found.chain = max(found.chain, _longest(experiment, model.name, sum(calls.values(), Counter[str]())))


def _longest(experiment: Experiment, model: str, calls: Mapping[str, int]) -> int:
    """Return how many calls, by unit, the longest ordered lane has one after another."""
    lanes = experiment.lanes(model, 1)
    return max((sum(max(calls[unit.key] for unit in step) for step in lane) for lane in lanes), default=0)


def _usage(size: int, answer: str) -> Usage:
    return Usage(input_tokens=size // BYTES_PER_TOKEN, output_tokens=max(1, len(answer) // BYTES_PER_TOKEN))


def _add(cell: Cell, usage: Usage, size: int, options: Mapping[str, Json], price: Price | None) -> None:
    cell.calls += 1
    cell.input_tokens += usage.input_tokens
    cell.output_tokens += usage.output_tokens
    if price:
        cell.low += price.cost(usage)
        cell.high += most(price, size, options) or price.cost(usage)


@dataclass(frozen=True, slots=True)
class Total:
    """What one model, or the run, comes to. USD is None where nobody knows: no price, or nothing bounds the output.

    `low` leaves out what has no price; `unknown` names it. `wall` is None for a model that has no dialogues of its own,
    and in batches, of which `batches` go one after another.
    """

    sums: Cell
    wall: Forecast | None
    low: Decimal | None
    high: Decimal | None
    unknown: Sequence[str] = ()
    batches: int | None = None

    def time(self) -> str:
        """Return the wall time in words."""
        if self.wall:
            return f"{clock(self.wall.seconds)}: {self.wall.bound}"
        return "" if self.batches is None else f"{self.batches:,} batches"

    def usd(self) -> str:
        """Return the range in words."""
        if self.low is None:
            return "unknown: no price"
        if self.high is not None:
            return f"${self.low:.4f} to ${self.high:.4f}"
        why = f"unknown for {', '.join(self.unknown)}" if self.unknown else "no --max-tokens bounds it"
        return f"${self.low:.4f} and up: {why}"

    def to_json(self) -> dict[str, Json]:
        """Return it raw; money as text."""
        return {
            "dialogues": self.sums.dialogues,
            "calls": self.sums.calls,
            "input_tokens": self.sums.input_tokens,
            "output_tokens": self.sums.output_tokens,
            "usd_low": None if self.low is None else str(self.low),
            "usd_high": None if self.high is None else str(self.high),
            "wall_seconds": round(self.wall.seconds, 1) if self.wall else None,
            "bound": self.wall.bound if self.wall else None,
            "batches": self.batches,
        }


def by_model(spec: Spec, found: Estimate) -> dict[str, Total]:
    """Return what each model comes to, as if it ran alone."""
    totals: dict[str, Total] = {}
    for label in found.models:
        sums = Cell.total(cell for key, cell in found.cells.items() if key[0] == label)
        alone = None if spec.settings.batch or not sums.dialogues else found.wall(spec, [label])
        priced, bounded = label not in found.unpriced, label not in found.unbounded
        low, high = sums.low if priced else None, sums.high if priced and bounded else None
        batches = found.lane.get(label, 0) if spec.settings.batch else None
        totals[label] = Total(sums, alone, low, high, batches=batches)
    return totals


def in_total(spec: Spec, found: Estimate, totals: Mapping[str, Total]) -> Total:
    """Return what the run comes to: accounts work side by side, and the models of one share its limits."""
    sums = Cell.total(total.sums for total in totals.values())
    together = None if spec.settings.batch else found.wall(spec, list(totals))
    low = None if found.unpriced >= totals.keys() else sums.low
    high = None if found.unpriced or found.unbounded else sums.high
    batches = found.chain if spec.settings.batch else None
    return Total(sums, together, low, high, sorted(found.unpriced), batches)


def _as_text(spec: Spec, found: Estimate) -> str:
    from ...results.table import Cell as Shown
    from ...results.table import Table
    from ...results.text import render

    totals = by_model(spec, found)
    whole = in_total(spec, found, totals)
    rows: list[list[Shown]] = [
        [name, each.dialogues, each.calls, each.input_tokens, each.output_tokens, total.usd(), total.time()]
        for name, total in {**totals, "in total": whole}.items()
        for each in (total.sums,)
    ]
    cells: list[list[Shown]] = [
        [" ".join(key), cell.dialogues, cell.calls, cell.input_tokens, cell.output_tokens]
        for key, cell in found.cells.items()
    ]
    columns = ("model", "dialogues", "calls", "input tokens", "output tokens", "USD", "wall time")
    return render(
        [
            Table(key="cells", title="Cells", columns=("cell", *columns[1:5]), rows=cells),
            Table(
                key="models",
                title="Dry run: nothing was sent",
                columns=columns,
                rows=rows,
                note=(
                    f"{BYTES_PER_TOKEN} bytes a token; answers as long as gold. USD at the prices of "
                    f"{datetime.now(UTC).date()}: from what that costs without reasoning to the most that a cap "
                    + (
                        "reserves. Batches take up to 24 hours each, one after another."
                        if spec.settings.batch
                        else f"reserves. Wall time, and what it waits for most: at {found.latency}, without retries."
                    )
                ),
            ),
        ]
    ).rstrip("\n")


def _as_json(spec: Spec, found: Estimate) -> dict[str, Json]:
    totals = by_model(spec, found)
    whole = in_total(spec, found, totals)
    cells: list[Json] = [{"cell": list(key), "calls": cell.calls} for key, cell in found.cells.items()]
    return {
        "models": {name: total.to_json() for name, total in totals.items()},
        "total": {**whole.to_json(), "unpriced": list[Json](whole.unknown)},
        "seconds_per_call": dict[str, Json](found.latency.seconds),
        "latency": found.latency.source,
        "cells": cells,
    }

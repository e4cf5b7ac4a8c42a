"""Tokens and money of the answers on record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from .table import Cell, Table


@dataclass(slots=True)
class Spent:
    """What answers cost: tokens as the provider counted them (`input` includes cached, `output` reasoning), and USD.

    `unpriced` answers have no known cost: no price, or no usage reported; `batched` ones came in batches, at the rates
    of those.
    """

    answers: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0
    batched: int = 0

    def add(self, answer: Mapping[str, Any]) -> None:
        """Count the answer that a journal line holds."""
        usage: Mapping[str, int] = answer.get("usage", {})
        self.answers += 1
        self.input += usage.get("input_tokens", 0)
        self.cached += usage.get("cached_tokens", 0)
        self.output += usage.get("output_tokens", 0)
        self.reasoning += usage.get("reasoning_tokens", 0)
        if "usd" in answer:
            self.usd += Decimal(answer["usd"])
        else:
            self.unpriced += 1
        self.batched += "batch" in answer

    @classmethod
    def total(cls, parts: Iterable[Spent]) -> Spent:
        """Return the sum of `parts`."""
        total = cls()
        for part in parts:
            for each in fields(cls):
                setattr(total, each.name, getattr(total, each.name) + getattr(part, each.name))
        return total

    def cells(self) -> list[Cell]:
        """Return the numbers in the order of the table's columns."""
        return [getattr(self, each.name) for each in fields(self) if each.name != "batched"]


def paid(parts: Iterable[Spent]) -> str:
    """Return in words what answers cost together."""
    total = Spent.total(parts)
    tokens = f"{total.input:,} tokens in and {total.output:,} out over {total.answers:,} answers"
    unpriced = f"; {total.unpriced:,} answers have no known price" if total.unpriced else ""
    return f"${total.usd:,.4f} for {tokens}{unpriced}"


def cost(spent: Mapping[tuple[str, str], Spent], part: str) -> Table:
    """Tokens and money per model and `part` of the run (a condition, a protocol)."""
    rows: list[list[Cell]] = []
    for model in dict.fromkeys(model for model, _ in spent):
        cells = {name: each for (m, name), each in spent.items() if m == model}
        rows += [[model, name, *each.cells()] for name, each in cells.items()]
        if len(cells) > 1:
            rows.append([model, "all", *Spent.total(cells.values()).cells()])
    total = Spent.total(spent.values())
    note = "Of answers on record; what failed attempts may have cost is among the operations."
    if total.batched:
        note += f" {total.batched:,} of {total.answers:,} answers came in batches, at batch rates."
    return Table(
        key="cost",
        title="Answers, tokens and cost",
        columns=(
            "model",
            part,
            "answers",
            "input tokens",
            "of them cached",
            "output tokens",
            "of them reasoning",
            "USD",
            "unpriced answers",
        ),
        labels=2,
        rows=rows,
        note=note,
    )

"""Figures show the numbers of tables: what both benchmarks use to read them, and the figure that both have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from ..table import Cell, Difference, Number, Rate, Table
from .figure import Axis, Figure, Panel, Range, Series, crossed, percent, percents, points
from .names import short

Tables = Mapping[str, Table]
ALL: Final = "all"
"""How a row over all models calls itself; figures leave it out."""

FAR: Final = 20
"""How many times dearer one model must be than another for a logarithmic axis."""


def rows(table: Table) -> Iterator[dict[str, Cell]]:
    """Yield each row as its cells by column."""
    return (dict(zip(table.columns, row, strict=True)) for row in table.rows)


def measures(table: Table) -> list[str]:
    """Return the columns that hold what is measured: neither labels nor what it was measured on."""
    return [column for column in table.columns[table.labels :] if column != "n"]


def value(cell: Cell) -> tuple[float, Range] | None:
    """Return what a cell shows, in percent or points, with its interval."""
    match cell:
        case Rate():
            return percent(cell)
        case Difference():
            return points(cell)
        case Number():
            return cell.value, None
        case int() | float() | Decimal():
            return float(cell), None
        case _:
            return None


def distinct(table: Table, column: str) -> list[str]:
    """Return the values of a label column in their order, without the row over all models."""
    return [each for each in dict.fromkeys(str(row[column]) for row in rows(table)) if each != ALL]


def cost_figure(
    accuracy: Iterable[tuple[str, str, str, Cell]], cost: Table, part: str, measure: str, unit: str
) -> Figure | None:
    """Return cost against accuracy: a panel per title, a point per model.

    `accuracy` yields panel title, model, the `part` that its cost stands under, and the rate. Where no answer has a
    price, tokens stand for it.
    """
    spent = {(str(row["model"]), str(row[part])): row for row in rows(cost)}
    priced = any(row["USD"] for row in spent.values())
    panels: dict[str, list[Series]] = {}
    prices = list[float]()
    found = list(accuracy)
    models = list(dict.fromkeys(model for _, model, _, _ in found))
    names = short(models)
    for title, model, where, cell in found:
        row = spent.get((model, where))
        if row is None or not (price := _price(row, priced)):
            continue
        prices.append(price)
        point = crossed((price, None), value(cell))
        panels.setdefault(title, []).append(
            Series(name=names[model], style=models.index(model), points=point, joined=False)
        )
    if not panels:
        return None
    label = f"USD per 1,000 {unit}" if priced else f"Tokens per {unit.removesuffix('s')}"
    return Figure(
        key="cost",
        title=f"Cost against {measure}",
        panels=[
            Panel(title=title, x=_price_axis(label, prices), y=percents(measure), series=series)
            for title, series in panels.items()
        ],
        note="Vertical lines are 95 % intervals."
        + ("" if priced else " No answer of this run has a price above zero, so tokens stand for the cost."),
    )


def _price_axis(label: str, prices: Sequence[float]) -> Axis:
    """Return one axis for all panels: from nothing, unless the dearest would push the others together there."""
    cheapest, dearest = min(prices), max(prices)
    if dearest > FAR * cheapest:
        return Axis(label=label, low=cheapest / 1.5, high=dearest * 1.5, scale="log")
    return Axis(label=label, low=0, high=dearest * 1.1)


def _price(row: Mapping[str, Cell], priced: bool) -> float:
    """Return USD per 1,000 answers, or tokens per answer; 0 where there is none."""
    answers, usd, read, written = (row[name] for name in ("answers", "USD", "input tokens", "output tokens"))
    if not answers:
        return 0.0
    assert isinstance(answers, int)
    assert isinstance(usd, Decimal)
    assert isinstance(read, int)
    assert isinstance(written, int)
    return 1000 * float(usd) / answers if priced else (read + written) / answers

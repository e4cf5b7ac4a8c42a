"""The benchmark's shape (Table 3 and §4.3) and the turn sequences of each source and tier, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..templates import Template, bird, northwind, sec_edgar

SESSIONS: Mapping[tuple[str, int], int] = {
    ("northwind", 1): 30, ("northwind", 2): 40, ("northwind", 3): 30,
    ("sec_edgar", 1): 30, ("sec_edgar", 2): 50, ("sec_edgar", 3): 40,
    ("bird", 1): 30, ("bird", 2): 30, ("bird", 3): 20,
}  # fmt: skip
"""Sessions per source and tier, in plan order."""

TURNS: Mapping[int, int] = {1: 1, 2: 4, 3: 9}
"""Turns per tier, but for the long ones."""

LONG: Mapping[str, int] = {"northwind": 7, "sec_edgar": 9, "bird": 4}
"""How many tier-3 sessions of each source have a tenth turn."""


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a sequence: its template, and the values that the question says instead of the profile's own.

    A value `@key` is the profile's value of another key.
    """

    template: Template
    instead: tuple[tuple[str, str], ...] = ()


def _of(template: Template, **instead: str) -> Step:
    return Step(template, tuple(instead.items()))


Sequence = tuple[Step, ...]

SEQUENCES: Mapping[tuple[str, int], tuple[Sequence, ...]] = {
    ("northwind", 1): (
        (_of(northwind.YEAR_SALES),),
        (_of(northwind.YEAR_FREIGHT),),
        (_of(northwind.YEAR_UNITS),),
    ),
    ("northwind", 2): (
        (
            _of(northwind.SALES_BY_YEAR),
            _of(northwind.BEST_YEAR),
            _of(northwind.FOCUS),
            _of(northwind.ORDERS),
        ),
        (
            _of(northwind.ORDERS_BY_YEAR),
            _of(northwind.WEAKEST_YEAR),
            _of(northwind.FOCUS),
            _of(northwind.AVERAGE_ORDER),
        ),
    ),
    ("northwind", 3): (
        (
            _of(northwind.SALES_BY_YEAR),
            _of(northwind.FOCUS),
            _of(northwind.ORDERS),
            _of(northwind.AVERAGE_ORDER),
            _of(northwind.LARGEST_ORDER),
            _of(northwind.UNITS),
            _of(northwind.TOP_PRODUCT),
            _of(northwind.TOP_CATEGORY),
            _of(northwind.LAST_ORDER),
            _of(northwind.TOP_EMPLOYEE),
        ),
    ),
    ("sec_edgar", 1): tuple(
        (_of(sec_edgar.PAIR, metric=metric),)
        for metric in ("revenue", "net_income", "cash", "total_assets", "total_liabilities")
    ),
    ("sec_edgar", 2): (
        (
            _of(sec_edgar.PAIR, metric="revenue"),
            _of(sec_edgar.LARGER),
            _of(sec_edgar.SWITCH, metric="net_income"),
            _of(sec_edgar.CHANGE),
        ),
        (
            _of(sec_edgar.PAIR, metric="total_assets"),
            _of(sec_edgar.CHANGE),
            _of(sec_edgar.SWITCH, metric="cash"),
            _of(sec_edgar.LARGER),
        ),
    ),
    ("sec_edgar", 3): (
        (
            _of(sec_edgar.PAIR, metric="revenue"),
            _of(sec_edgar.LARGER),
            _of(sec_edgar.SWITCH, metric="net_income"),
            _of(sec_edgar.CHANGE),
            _of(sec_edgar.SWITCH, metric="cash"),
            _of(sec_edgar.LARGER),
            _of(sec_edgar.SWITCH, metric="total_assets"),
            _of(sec_edgar.AVERAGE),
            _of(sec_edgar.LATER, metric="total_liabilities"),
            _of(sec_edgar.SHARE),
        ),
    ),
    ("bird", 1): (
        (_of(bird.COUNT),),
        (_of(bird.SUM),),
    ),
    ("bird", 2): (
        (_of(bird.LIST), _of(bird.TOTAL), _of(bird.LARGEST), _of(bird.AVERAGE)),
        (_of(bird.LIST), _of(bird.TOTAL), _of(bird.SMALLEST), _of(bird.PAYMENTS)),
    ),
    ("bird", 3): (
        (
            _of(bird.LIST_ALL),
            _of(bird.NARROW),
            _of(bird.TOTAL),
            _of(bird.LARGEST),
            _of(bird.SMALLEST),
            _of(bird.AVERAGE),
            _of(bird.NEWEST),
            _of(bird.PAYMENTS),
            _of(bird.WHOLE_REGION),
            _of(bird.OTHER_STATUS, loan_status="@other_status"),
        ),
    ),
}
"""The sequences that a tier's sessions take by turns."""


def metrics(sequence: Sequence) -> frozenset[str]:
    """Return the EDGAR metrics that `sequence` speaks of."""
    return frozenset(value for step in sequence for key, value in step.instead if key == "metric")

"""Phase 1: profiles that sessions can be about, by deterministic queries against the live databases."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from ....adapters.base import ConfigurationError
from ...draw import Draw
from ...gold import GoldRunner, Row
from ..sessions import DATABASES, Value

Profile: TypeAlias = "Mapping[str, Value]"
"""The values of one session's entity, by state key."""

_NORTHWIND = """
SELECT c.CustomerID, c.CompanyName, strftime('%Y', o.OrderDate) AS year
FROM Orders o JOIN Customers c ON c.CustomerID = o.CustomerID
WHERE c.CompanyName IN (SELECT CompanyName FROM Customers GROUP BY CompanyName HAVING COUNT(*) = 1)
GROUP BY c.CustomerID, year HAVING COUNT(*) >= 5 ORDER BY c.CustomerID, year
"""

_EDGAR = """
SELECT c.ticker, c.company_name, a.fiscal_year, b.fiscal_year
FROM annual_financials a
JOIN annual_financials b ON b.ticker = a.ticker AND b.metric = a.metric
    AND b.fiscal_year BETWEEN a.fiscal_year + 1 AND a.fiscal_year + 3
JOIN companies c ON c.ticker = a.ticker
WHERE a.metric IN ({metrics})
    AND a.value_billions <> b.value_billions AND a.value_billions <> 0 AND b.value_billions <> 0
    AND c.company_name IN (SELECT company_name FROM companies GROUP BY company_name HAVING COUNT(*) = 1)
GROUP BY a.ticker, a.fiscal_year, b.fiscal_year HAVING COUNT(*) = {count}
ORDER BY a.ticker, a.fiscal_year, b.fiscal_year
"""

_BIRD = """
SELECT DISTINCT d.A3, l.status
FROM loan l JOIN account a ON a.account_id = l.account_id
JOIN disp dp ON dp.account_id = a.account_id AND dp.type = 'OWNER'
JOIN client c ON c.client_id = dp.client_id JOIN district d ON d.district_id = c.district_id
ORDER BY d.A3, l.status
"""


def extract(runner: GoldRunner, source: str, metrics: frozenset[str]) -> list[Profile]:
    """Return every eligible profile of `source`, in a fixed order.

    Northwind: a customer of unmistakable name and a year of at least five orders. EDGAR: a filer and two years, at most
    three apart, with distinct values of all `metrics`. BIRD: a region and a status that its owners' loans have.
    """
    try:
        return _EXTRACTORS[source](runner, metrics)
    except sqlite3.Error as error:
        database = DATABASES[source]
        raise ConfigurationError(f"database {database} does not have the schema of {source}: {error}") from None


def _northwind(runner: GoldRunner, _: frozenset[str]) -> list[Profile]:
    keys = ("customer_id", "company_name", "focus_year")
    return _named(keys, runner.rows("northwind", _NORTHWIND))


def _edgar(runner: GoldRunner, metrics: frozenset[str]) -> list[Profile]:
    listed = ", ".join(f"'{metric}'" for metric in sorted(metrics))
    keys = ("ticker", "company_name", "older_year", "newer_year")
    return _named(keys, runner.rows("sec_edgar", _EDGAR.format(metrics=listed, count=len(metrics))))


def _bird(runner: GoldRunner, _: frozenset[str]) -> list[Profile]:
    """Each pair also knows the region's next status, for the turn that changes to it."""
    statuses: dict[str, list[str]] = defaultdict(list)
    for region, status in runner.rows("financial", _BIRD):
        statuses[str(region)].append(str(status))
    return [
        {"region": region, "loan_status": status, "other_status": found[(place + 1) % len(found)]}
        for region, found in statuses.items()
        if len(found) > 1
        for place, status in enumerate(found)
    ]


_EXTRACTORS: Mapping[str, Callable[[GoldRunner, frozenset[str]], list[Profile]]] = {
    "northwind": _northwind,
    "sec_edgar": _edgar,
    "bird": _bird,
}
_ENTITY = {"northwind": "customer_id", "sec_edgar": "ticker", "bird": "region"}


def _named(keys: tuple[str, ...], rows: Iterable[Row]) -> list[Profile]:
    return [
        {key: value if isinstance(value, int) else str(value) for key, value in zip(keys, row, strict=True)}
        for row in rows
    ]


def choose(profiles: list[Profile], source: str, count: int, draw: Draw) -> list[Profile]:
    """Draw up to `count` distinct profiles, spread over the entities: none comes twice before each came once."""
    groups: dict[Value, list[Profile]] = defaultdict(list)
    for profile in profiles:
        groups[profile[_ENTITY[source]]].append(profile)
    decks = [draw.shuffled(group) for group in draw.shuffled(list(groups.values()))]
    rounds = max(map(len, decks), default=0)
    return [deck[lap] for lap in range(rounds) for deck in decks if lap < len(deck)][:count]

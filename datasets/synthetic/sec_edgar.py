"""A look-alike of the SEC EDGAR extract: 20 filers, 1,897 annual and 5,599 quarterly records of 2009 to 2026."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..draw import Draw
from .tables import Row, Tables

_SEED = "sec_edgar"

FILERS = {
    "ABND": "Abendroth Industries, Inc.", "BLLW": "BELLWEATHER CORP", "CNDR": "Cinderby & Sons",
    "DRCH": "DRACHMANN HOLDINGS INC", "EASL": "Eastlock Energy Corporation", "FROW": "Farrowby Foods Co",
    "GLSW": "GLASSWRIGHT SYSTEMS, INC.", "HJRT": "Hjortsberg Pharma, Inc.", "IRNM": "IRONMONGER STEEL CO",
    "JADW": "Jadwick Networks", "KSTR": "Kestrelby Air Lines, Inc.", "LNTN": "LANTERNBY BANCORP",
    "MRLW": "Marlowski Motors Corporation", "OBRN": "O'Brannoch Brewing Company", "PLLW": "PELLWORTH INSURANCE GROUP",
    "QRTN": "Quarrenton Semiconductor", "RVNS": "Ravensmoor & Co.", "SLTM": "SALTMARSH SHIPPING LTD",
    "TAMB": "Tamberlane Media, Inc.", "UNDH": "Underhay Stores, Inc.",
}  # fmt: skip


class _Metric(NamedTuple):
    concept: str
    scale: tuple[int, int]
    """Per mille of the filer's size: what the metric of a year lies between."""
    annual: int
    quarterly: tuple[int, int, int]


_METRICS = {
    "revenue": _Metric("Revenues", (900, 1_200), 158, (143, 144, 147)),
    "net_income": _Metric("NetIncomeLoss", (-40, 260), 311, (297, 308, 310)),
    "cash": _Metric("CashAndCashEquivalentsAtCarryingValue", (80, 400), 296, (286, 297, 299)),
    "total_assets": _Metric("Assets", (1_500, 2_600), 324, (312, 325, 325)),
    "total_liabilities": _Metric("Liabilities", (700, 1_450), 266, (258, 266, 266)),
    "operating_income": _Metric("OperatingIncomeLoss", (-20, 320), 243, (236, 244, 246)),
    "eps": _Metric("EarningsPerShareDiluted", (-50, 1_500), 299, (289, 299, 302)),
}
_QUARTERS = ("Q1", "Q2", "Q3")


def rows() -> Tables:
    """Yield every table's rows, referenced tables first."""
    ciks = Draw(_SEED, "cik")
    yield "companies", [(f"{ciks.between(10_000, 1_999_999):010d}", *filer) for filer in FILERS.items()]
    yield "annual_financials", _annual()
    yield "quarterly_financials", _quarterly()


def _years() -> list[tuple[str, int]]:
    """Return (ticker, fiscal year), the newest years first: four filers have 2026, all have 2009 to 2025.

    Each metric is reported for a stretch from the start of this list, so the scarcest (revenue, as in the real
    extract) still covers the eight newest years of nearly every filer.
    """
    early = [(ticker, 2026) for ticker in list(FILERS)[:4]]
    return early + [(ticker, year) for year in range(2025, 2008, -1) for ticker in FILERS]


def _annual() -> Iterator[Row]:
    for name, metric in _METRICS.items():
        for ticker, year in _years()[: metric.annual]:
            form = "10-K/A" if Draw(_SEED, "form", ticker, year, name).chance(0.01) else "10-K"
            filed = f"{year}-11-{Draw(_SEED, 'filed', ticker, year).between(1, 28):02d}"
            yield ticker, year, name, *_amount(name, metric, ticker, year, "FY"), metric.concept, form, filed


def _quarterly() -> Iterator[Row]:
    for name, metric in _METRICS.items():
        for quarter, (period, count) in enumerate(zip(_QUARTERS, metric.quarterly, strict=True)):
            for ticker, year in _years()[:count]:
                filed = f"{year}-{2 + 3 * quarter:02d}-{Draw(_SEED, 'filed', ticker, year, period).between(1, 28):02d}"
                amount = _amount(name, metric, ticker, year, period)
                yield ticker, year, period, name, *amount, metric.concept, "10-Q", filed


def _amount(name: str, metric: _Metric, ticker: str, year: int, period: str) -> tuple[float, float | None, str]:
    """Return value, value in billions and unit: dollars in whole millions, or dollars per share without billions."""
    draw = Draw(_SEED, name, ticker, year, period)
    share = draw.between(*metric.scale)
    if name == "eps":
        return share / 100, None, "USD/shares"
    size = Draw(_SEED, "size", ticker).between(8_000, 300_000)
    growth = 100 + 6 * (year - 2009)
    quarters = 4 if period != "FY" and not name.startswith(("cash", "total")) else 1
    millions = size * growth // 100 * share // 1_000 // quarters or 1
    return float(millions * 1_000_000), millions / 1_000, "USD"

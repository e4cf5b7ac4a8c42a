"""SEC EDGAR: one filer's annual metrics over two fiscal years."""

from __future__ import annotations

from .model import Template

_FIGURES = "FROM annual_financials WHERE ticker = :ticker AND metric = :metric"
_BOTH = f"{_FIGURES} AND fiscal_year IN (:older_year, :newer_year)"
_PAIR = f"SELECT fiscal_year, value_billions {_BOTH} ORDER BY fiscal_year"
_YEARS = ("ticker", "older_year", "newer_year")
_OPENING = ("ticker", "company_name", "metric", "older_year", "newer_year")


def _template(pattern: str, sql: str, needs: tuple[str, ...] = (), binds: tuple[str, ...] = ()) -> Template:
    return Template("sec_edgar", pattern, sql, needs, binds)


PAIR = _template(
    "What {metric} did {company_name} report for fiscal {older_year} and {newer_year}, in billions?",
    _PAIR,
    binds=_OPENING,
)
LARGER = _template(
    "In which of these two years was it larger, and how large?",
    f"SELECT fiscal_year, value_billions {_BOTH} ORDER BY value_billions DESC LIMIT 1",
    needs=("ticker", "metric", "older_year", "newer_year"),
)
SWITCH = _template("Same two years, but {metric} this time.", _PAIR, needs=_YEARS, binds=("metric",))
CHANGE = _template(
    "By how much did it move between them, later minus earlier, to three decimals?",
    "SELECT ROUND(SUM(CASE fiscal_year WHEN :newer_year THEN value_billions ELSE -value_billions END), 3) AS change "
    + _BOTH,
    needs=("ticker", "metric", "older_year", "newer_year"),
)
AVERAGE = _template(
    "What do those two figures average out to, to three decimals?",
    f"SELECT ROUND(AVG(value_billions), 3) AS average {_BOTH}",
    needs=("ticker", "metric", "older_year", "newer_year"),
)
LATER = _template(
    "Keep only the later of those years, and give me {metric} for it.",
    f"SELECT value_billions {_FIGURES} AND fiscal_year = :newer_year",
    needs=("ticker", "newer_year"),
    binds=("metric",),
)
SHARE = _template(
    "What percentage of their total assets that year is it, to two decimals?",
    "SELECT ROUND(100.0 * part.value_billions / whole.value_billions, 2) AS percentage FROM annual_financials part "
    "JOIN annual_financials whole ON whole.ticker = part.ticker AND whole.fiscal_year = part.fiscal_year "
    "WHERE part.ticker = :ticker AND part.fiscal_year = :newer_year AND part.metric = :metric "
    "AND whole.metric = 'total_assets'",
    needs=("ticker", "metric", "newer_year"),
)

OURS = (PAIR, LARGER, SWITCH, CHANGE, AVERAGE, LATER, SHARE)

_HIGHER = f"SELECT fiscal_year {_BOTH} ORDER BY value_billions DESC, fiscal_year DESC LIMIT 1"

RELEASED = (
    _template("Show {company_name} {metric} for {older_year} and {newer_year}.", _PAIR, binds=_OPENING),
    _template("Which year was higher?", _HIGHER, needs=("ticker", "metric", "older_year", "newer_year")),
    _template("Now show {metric} for those same years.", _PAIR, needs=_YEARS, binds=("metric",)),
    _template("Which year was higher there?", _HIGHER, needs=("ticker", "metric", "older_year", "newer_year")),
)
"""The wordings of the authors' file, each matched as it stands and never asked by us."""

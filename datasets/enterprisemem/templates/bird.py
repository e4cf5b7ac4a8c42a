"""BIRD financial: the loans of account owners in one region, in all or of one status."""

from __future__ import annotations

from .model import Template

_OWNED = (
    "FROM loan l JOIN account a ON a.account_id = l.account_id "
    "JOIN disp dp ON dp.account_id = a.account_id AND dp.type = 'OWNER' "
    "JOIN client c ON c.client_id = dp.client_id JOIN district d ON d.district_id = c.district_id "
    "WHERE d.A3 = :region"
)
_SELECTED = f"{_OWNED} AND l.status = :loan_status"
_LIST = f"SELECT l.loan_id, l.amount {_SELECTED} ORDER BY l.loan_id"
_LIST_ALL = f"SELECT l.loan_id, l.amount {_OWNED} ORDER BY l.loan_id"
_COUNT = f"SELECT COUNT(*) AS loan_count {_SELECTED}"
_COUNT_ALL = f"SELECT COUNT(*) AS loan_count {_OWNED}"
_SUM = f"SELECT SUM(l.amount) AS total_amount {_SELECTED}"
_BOTH = f"SELECT COUNT(*) AS loan_count, SUM(l.amount) AS total_amount {_SELECTED}"
_MAX = f"SELECT MAX(l.amount) AS largest {_SELECTED}"
_MIN = f"SELECT MIN(l.amount) AS smallest {_SELECTED}"
_AVERAGE = f"SELECT ROUND(AVG(l.amount), 2) AS average_amount {_SELECTED}"
_NEWEST = f"SELECT MAX(l.date) AS newest {_SELECTED}"


def _first(pattern: str, sql: str, *binds: str) -> Template:
    """A question that stands on its own."""
    return Template("bird", pattern, sql, binds=binds)


def _there(pattern: str, sql: str, *binds: str) -> Template:
    """A question about the region in focus."""
    return Template("bird", pattern, sql, needs=("region",), binds=binds)


def _them(pattern: str, sql: str) -> Template:
    """A question about the loans in focus: a region and a status."""
    return Template("bird", pattern, sql, needs=("region", "loan_status"))


COUNT = _first("How many status {loan_status} loans do account owners in {region} hold?", _COUNT)
SUM = _first("What do the status {loan_status} loans of account owners in {region} sum to?", _SUM)
LIST = _first(
    "Which status {loan_status} loans do account owners in {region} hold? Loan id and amount, lowest id first.",
    _LIST, "region", "loan_status",
)  # fmt: skip
LIST_ALL = _first(
    "Which loans do account owners in {region} hold? Loan id and amount, lowest id first.", _LIST_ALL, "region"
)
NARROW = _there("Narrow that down to status {loan_status}.", _LIST, "loan_status")
TOTAL = _them("How many are there, and what do they sum to?", _BOTH)
LARGEST = _them("What is the biggest amount among them?", _MAX)
SMALLEST = _them("And the smallest of those amounts?", _MIN)
AVERAGE = _them("What do they average, to two decimals?", _AVERAGE)
NEWEST = _them("When was the newest of them granted?", _NEWEST)
PAYMENTS = _them(
    "What do their monthly payments come to together?", f"SELECT SUM(l.payments) AS monthly_payments {_SELECTED}"
)
WHOLE_REGION = _there(
    "Drop the status: how many loans does that region have in all, and what do they sum to?",
    f"SELECT COUNT(*) AS loan_count, SUM(l.amount) AS total_amount {_OWNED}",
)
OTHER_STATUS = _there("And with status {loan_status} in that same place: how many, and what sum?", _BOTH, "loan_status")

OURS = (
    COUNT, SUM, LIST, LIST_ALL, NARROW, TOTAL, LARGEST, SMALLEST, AVERAGE, NEWEST, PAYMENTS, WHOLE_REGION, OTHER_STATUS,
)  # fmt: skip

RELEASED = (
    _first("Count status {loan_status} loans in {region}.", _COUNT),
    _first("List {region} status {loan_status} loans.", _LIST, "region", "loan_status"),
    _first("List {region} region loans.", _LIST_ALL, "region"),
    _there("Now only the status {loan_status} ones.", _LIST, "loan_status"),
    _them("Count them.", _COUNT),
    _them("What is the total amount there?", _SUM),
    _them("What is the largest loan there?", _MAX),
    _them("What is the smallest loan there?", _MIN),
    _them("What is the average loan amount there?", _AVERAGE),
    _them("What is the most recent loan date there?", _NEWEST),
    _there("Go back to the original region and show the full loan count.", _COUNT_ALL),
    _there("Use the loan table and return the number of matching rows for that region.", _COUNT_ALL),
)
"""The wordings of the authors' file, each matched as it stands and never asked by us."""

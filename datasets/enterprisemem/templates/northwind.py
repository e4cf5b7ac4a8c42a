"""Northwind: sales to one customer, by year and within one."""

from __future__ import annotations

from .model import Template

_LINES = "Orders o JOIN [Order Details] od ON od.OrderID = o.OrderID"
_VALUE = "od.UnitPrice * od.Quantity * (1 - od.Discount)"
_SALES = f"ROUND(SUM({_VALUE}), 2) AS sales_total"
_YEAR = "strftime('%Y', o.OrderDate)"
_EVER = "WHERE o.CustomerID = :customer_id"
_THEN = f"{_EVER} AND {_YEAR} = :focus_year"
_BY_YEAR = f"FROM {_LINES} {_EVER} GROUP BY order_year ORDER BY"
_PER_ORDER = f"(SELECT SUM({_VALUE}) AS order_total FROM {_LINES} {_THEN} GROUP BY o.OrderID)"


def _first(pattern: str, sql: str, *binds: str) -> Template:
    """A question that stands on its own."""
    return Template("northwind", pattern, sql, binds=binds)


def _then(pattern: str, sql: str) -> Template:
    """A question about the customer and year in focus."""
    return Template("northwind", pattern, sql, needs=("customer_id", "focus_year"))


def _ever(pattern: str, sql: str, *binds: str) -> Template:
    """A question about the customer in focus."""
    return Template("northwind", pattern, sql, needs=("customer_id",), binds=binds)


_SALES_BY_YEAR = f"SELECT {_YEAR} AS order_year, {_SALES} {_BY_YEAR} order_year"
_SALES_THEN = f"SELECT {_SALES} FROM {_LINES} {_THEN}"
_ORDERS_THEN = f"SELECT COUNT(*) AS order_count FROM Orders o {_THEN}"
_FREIGHT_THEN = f"SELECT ROUND(SUM(o.Freight), 2) AS freight_total FROM Orders o {_THEN}"
_UNITS_THEN = f"SELECT SUM(od.Quantity) AS units FROM {_LINES} {_THEN}"
_AVERAGE_ORDER = f"SELECT ROUND(AVG(order_total), 2) AS average_order FROM {_PER_ORDER}"
_LAST_ORDER = f"SELECT MAX(o.OrderDate) AS last_order_date FROM Orders o {_THEN}"

YEAR_SALES = _first("What did sales to {company_name} total in {focus_year}?", _SALES_THEN)
YEAR_FREIGHT = _first("What was the freight bill across all {company_name} orders dated {focus_year}?", _FREIGHT_THEN)
YEAR_UNITS = _first("How many product units did {company_name} order over {focus_year}?", _UNITS_THEN)
SALES_BY_YEAR = _first(
    "Give me the yearly sales totals for {company_name}, earliest year first.",
    _SALES_BY_YEAR, "customer_id", "company_name",
)  # fmt: skip
ORDERS_BY_YEAR = _first(
    "For each year, how many orders came from {company_name}? Earliest year first.",
    f"SELECT {_YEAR} AS order_year, COUNT(*) AS order_count FROM Orders o {_EVER} "
    f"GROUP BY order_year ORDER BY order_year",
    "customer_id", "company_name",
)  # fmt: skip
BEST_YEAR = _ever(
    "Which of those years brought in the most, and what was its sales total?",
    f"SELECT {_YEAR} AS order_year, {_SALES} {_BY_YEAR} sales_total DESC LIMIT 1",
)
WEAKEST_YEAR = _ever(
    "Which of those years brought in the least, and what was its sales total?",
    f"SELECT {_YEAR} AS order_year, {_SALES} {_BY_YEAR} sales_total LIMIT 1",
)
FOCUS = _ever("Zoom in on {focus_year} for them: what do sales total?", _SALES_THEN, "focus_year")
ORDERS = _then(
    "How many orders did they send us then, and what freight do those add up to?",
    f"SELECT COUNT(*) AS order_count, ROUND(SUM(o.Freight), 2) AS freight_total FROM Orders o {_THEN}",
)
AVERAGE_ORDER = _then("What was an order of theirs worth on average in that year?", _AVERAGE_ORDER)
LARGEST_ORDER = _then(
    "And the most valuable one of those orders?",
    f"SELECT ROUND(MAX(order_total), 2) AS largest_order FROM {_PER_ORDER}",
)
UNITS = _then("How many units in all did they take that year?", _UNITS_THEN)
TOP_PRODUCT = _then(
    "Which product did they spend the most on then, and how much?",
    f"SELECT p.ProductName, {_SALES} FROM {_LINES} JOIN Products p ON p.ProductID = od.ProductID {_THEN} "
    f"GROUP BY p.ProductID, p.ProductName ORDER BY sales_total DESC LIMIT 1",
)
TOP_CATEGORY = _then(
    "Which product category leads for them that year, and with what amount?",
    f"SELECT c.CategoryName, {_SALES} FROM {_LINES} JOIN Products p ON p.ProductID = od.ProductID "
    f"JOIN Categories c ON c.CategoryID = p.CategoryID {_THEN} "
    f"GROUP BY c.CategoryID, c.CategoryName ORDER BY sales_total DESC LIMIT 1",
)
LAST_ORDER = _then("What is the latest order date on record for them in that year?", _LAST_ORDER)
TOP_EMPLOYEE = _then(
    "Which of our employees took the most money in orders from them that year? Last name, first name and amount.",
    f"SELECT e.LastName, e.FirstName, {_SALES} FROM {_LINES} JOIN Employees e ON e.EmployeeID = o.EmployeeID {_THEN} "
    f"GROUP BY e.EmployeeID, e.LastName, e.FirstName ORDER BY sales_total DESC LIMIT 1",
)

OURS = (
    YEAR_SALES, YEAR_FREIGHT, YEAR_UNITS, SALES_BY_YEAR, ORDERS_BY_YEAR, BEST_YEAR, WEAKEST_YEAR, FOCUS, ORDERS,
    AVERAGE_ORDER, LARGEST_ORDER, UNITS, TOP_PRODUCT, TOP_CATEGORY, LAST_ORDER, TOP_EMPLOYEE,
)  # fmt: skip

RELEASED = (
    _first("Show {company_name} sales for {focus_year}.", _SALES_THEN),
    _first("Show {company_name} sales by year.", _SALES_BY_YEAR, "customer_id", "company_name"),
    _ever(
        "Which year was highest?",
        f"SELECT {_YEAR} AS order_year {_BY_YEAR} SUM({_VALUE}) DESC, order_year DESC LIMIT 1",
    ),
    _ever("Now focus on {focus_year} for that customer and show the sales total.", _SALES_THEN, "focus_year"),
    _then("How many orders did that customer place in that year?", _ORDERS_THEN),
    _then("What was total freight for that year?", _FREIGHT_THEN),
    _then("What was the average order subtotal for that year?", _AVERAGE_ORDER),
    _then(
        "What was the largest line-item value for that year?",
        f"SELECT ROUND(MAX({_VALUE}), 2) AS largest_line FROM {_LINES} {_THEN}",
    ),
    _then(
        "What was the smallest line-item value for that year?",
        f"SELECT ROUND(MIN({_VALUE}), 2) AS smallest_line FROM {_LINES} {_THEN}",
    ),
    _then(
        "How many distinct products were ordered that year?",
        f"SELECT COUNT(DISTINCT od.ProductID) AS product_count FROM {_LINES} {_THEN}",
    ),
    _then("What was the last order date in that year?", _LAST_ORDER),
    _then(
        "Which employee handled the most orders for that customer in that year?",
        f"SELECT e.LastName, e.FirstName, COUNT(*) AS order_count FROM Orders o "
        f"JOIN Employees e ON e.EmployeeID = o.EmployeeID {_THEN} GROUP BY e.EmployeeID, e.LastName, e.FirstName "
        f"ORDER BY order_count DESC, e.LastName, e.FirstName LIMIT 1",
    ),
)
"""The wordings of the authors' file, each matched as it stands and never asked by us."""

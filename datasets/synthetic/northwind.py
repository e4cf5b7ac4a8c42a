"""A look-alike of the populated Northwind: 93 customers, 16,282 orders of 2012-07 to 2023-10, 609,283 order lines."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from ..draw import Draw
from .names import AREAS, COUNTRIES, FAMILY, GIVEN, STREETS, TOWNS, TRADES
from .tables import Row, Tables

CUSTOMERS, ORDERS, LINES, PRODUCTS = 93, 16_282, 609_283, 77
FIRST_ORDER = 10_248
FIRST_TIME = datetime.datetime(2012, 7, 10, 15, 40, 46)
LAST_TIME = datetime.datetime(2023, 10, 28, 0, 9, 48)
_SEED = "northwind"

_GOODS = {
    "Hot Drinks": "Smoked Tea, Barley Coffee, Spiced Cocoa, Juniper Infusion, Malt Cup",
    "Preserves": "Quince Jelly, Green Tomato Relish, Rowan Marmalade, Pickled Walnuts, Plum Butter",
    "Sweets": "Honey Wafers, Almond Bark, Aniseed Drops, Fig Squares, Salt Toffee",
    "Dairy": "Blue Ewe Cheese, Cultured Butter, Smoked Curd, Alpine Wheel, Goat Log",
    "Grain": "Rye Crisps, Buckwheat Noodles, Oat Groats, Spelt Loaf, Barley Pasta",
    "Cured Meats": "Air-dried Ham, Venison Sausage, Duck Confit, Peppered Salami, Boar Pâté",
    "Greens": "Dried Chanterelles, White Asparagus, Sour Cabbage, Sea Kale, Bean Curd",
    "Fish": "Cold Smoked Trout, Herring in Cream, Salted Cod, Crab Paste, Eel in Aspic",
}
_GRADES = ("", " Reserve", " Family Pack")
_TITLES = ("Buyer", "Owner", "Purchasing Lead", "Accounts Clerk", "Store Manager")


def rows() -> Tables:
    """Yield every table's rows, referenced tables first."""
    customers = list(_customers(Draw(_SEED, "customers")))
    prices = [round(Draw(_SEED, "price", product).between(250, 9_900) / 100, 2) for product in range(PRODUCTS)]
    yield "Categories", ((number, name, goods, None) for number, (name, goods) in enumerate(_GOODS.items(), 1))
    yield "Customers", customers
    yield "Employees", _employees(Draw(_SEED, "employees"))
    yield "Shippers", ((n, name, f"(555) 01{n}0") for n, name in enumerate(("Swift Keel", "Packhorse", "Aerolane"), 1))
    yield "Suppliers", _suppliers(Draw(_SEED, "suppliers"))
    yield "Products", _products(Draw(_SEED, "products"), prices)
    yield "Regions", enumerate(("Coast", "Plain", "Forest", "Range"), 1)
    yield "Territories", ((f"{1_000 + 37 * n:05d}", f"{TOWNS[n % 24]} {n // 24 + 1}", n % 4 + 1) for n in range(53))
    yield "EmployeeTerritories", ((n % 9 + 1, f"{1_000 + 37 * n:05d}") for n in range(49))
    yield "Orders", _orders(Draw(_SEED, "orders"), customers)
    yield "Order Details", _lines(Draw(_SEED, "lines"), prices)


def _person(draw: Draw) -> str:
    return f"{draw.pick(GIVEN)} {draw.pick(FAMILY)}"


def _address(draw: Draw) -> tuple[str, str, str, str, str]:
    """Return street, city, region, postal code and country."""
    town = draw.below(len(TOWNS))
    country = COUNTRIES[town % len(COUNTRIES)]
    street = f"{draw.between(1, 240)} {draw.pick(STREETS)}"
    return street, TOWNS[town], AREAS[town % len(AREAS)], f"{draw.between(10_000, 99_999)}", country


def _phone(draw: Draw) -> str:
    return f"(555) {draw.between(1_000, 9_999)}"


def _customers(draw: Draw) -> Iterator[Row]:
    """Yield 93 customers: 40 family names, each with trades of its own, so that no company name comes twice."""
    for number in range(CUSTOMERS):
        lap, family = divmod(number, len(FAMILY))
        trade = (family * 5 + lap * 4) % len(TRADES)
        letters = [letter for letter in FAMILY[family].upper() if letter.isalpha()]
        key = f"{''.join(letters[:4])}{'TPDEMGIKLCFH'[trade]}"
        company = f"{FAMILY[family]} {TRADES[trade]}"
        yield key, company, _person(draw), draw.pick(_TITLES), *_address(draw), _phone(draw), _phone(draw)


def _employees(draw: Draw) -> Iterator[Row]:
    for number in range(1, 10):
        given, family = GIVEN[number * 4], FAMILY[number * 4 - 1]
        birth = f"{draw.between(1960, 1990)}-{draw.between(1, 12):02d}-{draw.between(1, 28):02d}"
        title, courtesy = ("Head of Sales" if number == 1 else "Sales Representative"), "Dr." if number == 5 else "Mx."
        yield (
            number, family, given, title, courtesy, birth, f"2012-0{draw.between(1, 6)}-01", *_address(draw),
            _phone(draw), str(draw.between(100, 999)), None, f"{given} joined in 2012.",
            None if number == 1 else 1, None,
        )  # fmt: skip


def _suppliers(draw: Draw) -> Iterator[Row]:
    for number in range(1, 30):
        company = f"{TOWNS[number % len(TOWNS)]} {('Dairy', 'Mills', 'Smokehouse', 'Orchards')[number // 8]}"
        yield number, company, _person(draw), draw.pick(_TITLES), *_address(draw), _phone(draw), None, None


def _products(draw: Draw, prices: list[float]) -> Iterator[Row]:
    goods = [(category, good) for category, goods in enumerate(_GOODS.values(), 1) for good in goods.split(", ")]
    for number in range(PRODUCTS):
        lap, kind = divmod(number, len(goods))
        category, good = goods[kind]
        yield (
            number + 1, good + _GRADES[lap], draw.between(1, 29), category, f"{draw.between(6, 48)} per case",
            prices[number], draw.below(120), draw.pick((0, 0, 0, 20, 60)), draw.pick((0, 10, 25)),
            "1" if draw.chance(0.1) else "0",
        )  # fmt: skip


def _orders(draw: Draw, customers: list[Row]) -> Iterator[Row]:
    span = int((LAST_TIME - FIRST_TIME).total_seconds())
    seconds = [0, span, *(draw.below(span) for _ in range(ORDERS - 2))]
    for order, offset in enumerate(sorted(seconds), FIRST_ORDER):
        customer = customers[draw.below(CUSTOMERS)]
        time = FIRST_TIME + datetime.timedelta(seconds=offset)
        shipped = None if draw.chance(0.002) else str(time + datetime.timedelta(days=draw.between(1, 30)))
        required = str(time + datetime.timedelta(days=draw.pick((14, 28, 42))))
        yield (
            order, customer[0], draw.between(1, 9), str(time), required, shipped, draw.between(1, 3),
            draw.between(5, 49_995) / 100, customer[1], *customer[4:9],
        )  # fmt: skip


def _lines(draw: Draw, prices: list[float]) -> Iterator[Row]:
    """Yield the order lines in key order.

    An order's products are a run of a cycle through all of them, its quantities and discounts a stretch of one long
    drawn ring: both far cheaper than drawing 609,283 lines one by one.
    """
    strides = [stride for stride in range(1, PRODUCTS) if stride % 7 and stride % 11]  # prime to 77 = 7 x 11
    cycles = [[stride * place % PRODUCTS for place in range(PRODUCTS)] * 2 for stride in strides]
    ring = [(draw.between(1, 50), draw.pick(_DISCOUNTS)) for _ in range(1 << 15)]
    for order, count in enumerate(_line_counts(draw), FIRST_ORDER):
        start, place = draw.below(PRODUCTS), draw.below(len(ring) - PRODUCTS)
        products = sorted(draw.pick(cycles)[start : start + count])
        for product, (quantity, discount) in zip(products, ring[place : place + count], strict=True):
            yield order, product + 1, prices[product], quantity, discount


_DISCOUNTS = (0.0,) * 15 + (0.05, 0.1, 0.15, 0.2, 0.25)


def _line_counts(draw: Draw) -> list[int]:
    """Return how many lines each order has: drawn from 1 to 74, then nudged until they sum to `LINES`."""
    counts = [draw.between(1, 74) for _ in range(ORDERS)]
    excess = sum(counts) - LINES
    step = 1 if excess > 0 else -1
    while excess:
        order = draw.below(ORDERS)
        if 1 <= counts[order] - step <= PRODUCTS:
            counts[order] -= step
            excess -= step
    return counts

"""A look-alike of BIRD's `financial`: a bank's accounts, owners and loans over 77 districts in eight regions.

Codes that questions and prompts name (loan status A to D, OWNER, account frequencies) are the real ones; places, people
and amounts are invented. `trans` is a sample: 10 movements per account instead of a million in all.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..draw import Draw
from .names import TOWNS
from .tables import Row, Tables

ACCOUNTS, CLIENTS, CARDS, ORDERS, LOANS = 4_500, 5_369, 892, 6_471, 682
STATUSES = {"A": 203, "B": 31, "C": 403, "D": 45}
REGIONS = {
    "Karsten": 1, "upper Teal": 12, "lower Teal": 11, "north Wendmark": 10, "south Wendmark": 11,
    "Harrow coast": 8, "great Sorrel": 14, "west Ambria": 10,
}  # fmt: skip
"""Districts per region, as many as in the real one."""

_SEED = "financial"
_DURATIONS = (12, 24, 36, 48, 60)
_FREQUENCIES = ("POPLATEK MESICNE",) * 45 + ("POPLATEK TYDNE",) * 3 + ("POPLATEK PO OBRATU",)
_SYMBOLS = ("SIPO",) * 5 + ("",) * 2 + ("UVER", "POJISTNE", "LEASING")
_BANKS = ("AB", "CD", "EF", "GH", "IJ", "KL", "MN", "OP", "QR", "ST", "UV", "WX", "YZ")


def rows() -> Tables:
    """Yield every table's rows, referenced tables first."""
    clients = list(_clients(Draw(_SEED, "clients")))
    dispositions = list(_dispositions(Draw(_SEED, "disp")))
    yield "district", _districts(Draw(_SEED, "districts"))
    yield "account", _accounts(Draw(_SEED, "accounts"))
    yield "client", clients
    yield "disp", dispositions
    yield "card", _cards(Draw(_SEED, "cards"))
    yield "loan", _loans(Draw(_SEED, "loans"), clients)
    yield "order", _orders(Draw(_SEED, "orders"))
    yield "trans", _movements(Draw(_SEED, "trans"))


def _region_of_district() -> list[str]:
    return [region for region, districts in REGIONS.items() for _ in range(districts)]


def _date(draw: Draw, first: int, last: int) -> str:
    return f"{draw.between(first, last)}-{draw.between(1, 12):02d}-{draw.between(1, 28):02d}"


def _districts(draw: Draw) -> Iterator[Row]:
    for number, region in enumerate(_region_of_district(), 1):
        lap, town = divmod(number - 1, len(TOWNS))
        name = TOWNS[town] + ("", " Parva", " Magna", " Nova")[lap]
        counts = (draw.between(0, 150), draw.between(0, 70), draw.between(0, 27), draw.between(0, 11))
        yield (
            number, name, region, str(draw.between(42_000, 390_000)), *map(str, counts[:3]),
            counts[3] % 6, draw.between(1, 11), draw.between(339, 1_000) / 10, draw.between(8_100, 12_600),
            draw.between(2, 73) / 10, draw.between(43, 940) / 100, draw.between(81, 167),
            draw.between(818, 20_000), draw.between(888, 20_000),
        )  # fmt: skip


def _accounts(draw: Draw) -> Iterator[Row]:
    for account in range(1, ACCOUNTS + 1):
        yield account, draw.between(1, 77), draw.pick(_FREQUENCIES), _date(draw, 1993, 1997)


def _clients(draw: Draw) -> Iterator[Row]:
    """Yield the clients; every ninth lives in the capital, which is one district."""
    for client in range(1, CLIENTS + 1):
        yield client, draw.pick("FM"), _date(draw, 1915, 1985), 1 if draw.chance(0.11) else draw.between(2, 77)


def _dispositions(draw: Draw) -> Iterator[Row]:
    """Yield one owner per account (client n owns account n) and 869 further people with access."""
    for account in range(1, ACCOUNTS + 1):
        yield account, account, account, "OWNER"
    for client in range(ACCOUNTS + 1, CLIENTS + 1):
        yield client, client, draw.between(1, ACCOUNTS), "DISPONENT"


def _cards(draw: Draw) -> Iterator[Row]:
    for card, owner in enumerate(sorted(draw.shuffled(range(1, ACCOUNTS + 1))[:CARDS]), 1):
        yield card, owner, draw.pick(("classic",) * 7 + ("junior", "gold", "classic")), _date(draw, 1993, 1998)


def _loans(draw: Draw, clients: list[Row]) -> Iterator[Row]:
    """Yield the loans, one to an account. The rare statuses go round the regions, so that each region has all four."""
    region_of = _region_of_district()
    homes = [region_of[int(str(client[3])) - 1] for client in clients[:ACCOUNTS]]
    owners: dict[str, list[int]] = {region: [] for region in REGIONS}
    for owner in draw.shuffled(range(1, ACCOUNTS + 1)):
        owners[homes[owner - 1]].append(owner)
    regions = list(REGIONS)
    number = 4_958
    for status, place in draw.shuffled(
        [(status, place) for status, count in STATUSES.items() for place in range(count)]
    ):
        region = regions[place % len(regions)] if status in "BD" else draw.pick(homes)
        number += draw.between(1, 6)
        duration, payment = draw.pick(_DURATIONS), draw.between(304, 9_910)
        granted = _date(draw, 1993, 1998)
        yield number, owners[region].pop(), granted, payment * duration, duration, float(payment), status


def _orders(draw: Draw) -> Iterator[Row]:
    payers = draw.shuffled(range(1, ACCOUNTS + 1))[:3_758]
    for place in range(ORDERS):
        account = payers[place] if place < len(payers) else draw.pick(payers)
        amount = draw.between(10, 148_820) / 10
        yield (
            29_401 + place, account, draw.pick(_BANKS), draw.between(10_000, 99_999_999), amount, draw.pick(_SYMBOLS)
        )  # fmt: skip


def _movements(draw: Draw) -> Iterator[Row]:
    for place in range(ACCOUNTS * 10):
        income, amount = draw.chance(0.4), draw.between(1, 40_000)
        kind, operation = ("PRIJEM", "VKLAD") if income else ("VYDAJ", "VYBER")
        yield (
            place + 1, place % ACCOUNTS + 1, _date(draw, 1993, 1998), kind, operation, amount,
            draw.between(0, 120_000), None, None, None,
        )  # fmt: skip

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from turntide.datasets import synthetic
from turntide.datasets.databases import FILES, open_readonly

COUNTS = {
    "northwind": {
        "Categories": 8, "CustomerCustomerDemo": 0, "CustomerDemographics": 0, "Customers": 93, "Employees": 9,
        "EmployeeTerritories": 49, "Order Details": 609_283, "Orders": 16_282, "Products": 77, "Regions": 4,
        "Shippers": 3, "Suppliers": 29, "Territories": 53,
    },
    "sec_edgar": {"companies": 20, "annual_financials": 1_897, "quarterly_financials": 5_599},
    "financial": {
        "account": 4_500, "card": 892, "client": 5_369, "disp": 5_369, "district": 77, "loan": 682, "order": 6_471,
        "trans": 45_000,
    },
    "superhero": {
        "alignment": 4, "attribute": 6, "colour": 35, "gender": 3, "publisher": 25, "race": 61, "superhero": 750,
        "hero_attribute": 3_738, "superpower": 167, "hero_power": 5_825,
    },
}  # fmt: skip

CONTENT = {
    "northwind": "58cd29b3b7399c59",
    "sec_edgar": "13dad1ab66e270cf",
    "financial": "7aeecb751e47005b",
    "superhero": "f682082c7e11be69",
}
"""Digests of all rows of version 1. A change here is a change of data: raise `synthetic.VERSION` with it."""


def tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    return [name for (name,) in rows]


def columns(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    """Name, type, NOT NULL and place in the primary key of every column."""
    return [(row[1], row[2], row[3], row[5]) for row in connection.execute(f'PRAGMA table_info("{table}")')]


@pytest.fixture(params=synthetic.NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_table_has_as_many_rows_as_the_real_one(name: str, look_alikes: Path) -> None:
    with closing(open_readonly(synthetic.place(name, look_alikes))) as connection:
        counts = {t: connection.execute(f'SELECT COUNT(*) FROM "{t}"').fetchone()[0] for t in tables(connection)}
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert counts == COUNTS[name]


def test_every_row_is_the_same_on_every_machine(name: str, look_alikes: Path) -> None:
    digest = hashlib.sha256()
    with closing(open_readonly(synthetic.place(name, look_alikes))) as connection:
        for table in sorted(tables(connection)):
            digest.update(repr(connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid').fetchall()).encode())
    assert digest.hexdigest()[:16] == CONTENT[name]


def test_the_header_says_that_it_is_synthetic(name: str, look_alikes: Path) -> None:
    with closing(open_readonly(synthetic.place(name, look_alikes))) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (synthetic.APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (synthetic.VERSION,)


def test_all_four_statuses_occur_in_every_region(look_alikes: Path) -> None:
    with closing(open_readonly(synthetic.place("financial", look_alikes))) as connection:
        (pairs,) = connection.execute(
            "SELECT COUNT(DISTINCT d.A3 || l.status) FROM loan l JOIN disp o USING (account_id) "
            "JOIN client c USING (client_id) JOIN district d ON d.district_id = c.district_id WHERE o.type = 'OWNER'"
        ).fetchone()
    assert pairs == 8 * 4


@pytest.fixture
def real(name: str, shared_data: Path, tmp_path: Path) -> Path:
    """The real database of the same name; for Northwind the small one before it was populated."""
    if name == "northwind":
        import gzip

        path = tmp_path / "northwind.sqlite"
        path.write_bytes(gzip.decompress((shared_data / "northwind" / "northwind_base.sqlite.gz").read_bytes()))
        return path
    return next(place for file in FILES[name] for place in shared_data.rglob(file))


def test_tables_and_columns_are_the_real_ones(name: str, look_alikes: Path, real: Path) -> None:
    ours = closing(open_readonly(synthetic.place(name, look_alikes)))
    with ours as look_alike, closing(open_readonly(real)) as original:
        assert sorted(tables(look_alike)) == sorted(tables(original))
        for table in tables(original):
            assert columns(look_alike, table) == columns(original, table)


NAMED = {
    "northwind": (("Customers", "CompanyName"), ("Products", "ProductName"), ("Employees", "LastName")),
    "sec_edgar": (("companies", "company_name"), ("companies", "ticker")),
    "financial": (("district", "A2"), ("district", "A3")),
    "superhero": (("superhero", "superhero_name"), ("superpower", "power_name"), ("publisher", "publisher_name")),
}


def test_no_name_is_a_real_one(name: str, look_alikes: Path, real: Path) -> None:
    ours = closing(open_readonly(synthetic.place(name, look_alikes)))
    with ours as look_alike, closing(open_readonly(real)) as original:
        for table, column in NAMED[name]:
            query = f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{column}" <> \'\''
            assert not set(look_alike.execute(query)) & set(original.execute(query)), (table, column)


def test_a_cached_look_alike_is_not_built_again(look_alikes: Path, tmp_path: Path) -> None:
    place = synthetic.place("superhero", tmp_path)
    place.parent.mkdir(parents=True)
    shutil.copy(synthetic.place("superhero", look_alikes), place)
    before = place.stat().st_mtime_ns
    assert synthetic.ensure("superhero", tmp_path) == place
    assert place.stat().st_mtime_ns == before

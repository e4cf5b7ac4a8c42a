from __future__ import annotations

import gzip
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.datasets.enterprisemem.sessions import Session, Turn, Value, turn_id
from turntide.datasets.enterprisemem.templates import LOOKUPS, TEMPLATES, Template, derive, learn, match
from turntide.datasets.enterprisemem.templates.northwind import FOCUS, SALES_BY_YEAR, UNITS
from turntide.datasets.gold import GoldRunner

ALL = [template for templates in TEMPLATES.values() for template in templates]

NAMES = st.text(min_size=1, max_size=20, alphabet=st.characters(exclude_categories=("C", "Zl", "Zp")))
YEARS = st.integers(1900, 2100)
VALUES = st.fixed_dictionaries(
    {
        "customer_id": NAMES,
        "company_name": NAMES,
        "focus_year": YEARS.map(str),
        "ticker": NAMES,
        "metric": st.sampled_from(["revenue", "net_income", "cash", "total_assets", "total_liabilities"]),
        "older_year": YEARS,
        "newer_year": YEARS,
        "region": NAMES,
        "loan_status": st.sampled_from("ABCD"),
    }
)


def without_ids(values: dict[str, Value]) -> dict[str, Value]:
    return {key: value for key, value in values.items() if key not in LOOKUPS}


@settings(deadline=None)
@given(st.sampled_from(ALL), VALUES)
def test_what_a_question_says_is_heard(template: Template, values: dict[str, Value]) -> None:
    heard = template.hear(template.ask(values))
    assert heard == {key: values[key] for key in template.says}


@settings(deadline=None)
@given(st.sampled_from(ALL), VALUES)
def test_the_values_in_filled_sql_are_read_back(template: Template, values: dict[str, Value]) -> None:
    for known in (values, without_ids(values)):
        found = template.values_in(template.fill(known))
        assert found
        assert found == {key: known[key] for key in found}


@pytest.mark.parametrize("template", ALL, ids=lambda template: template.pattern)
def test_a_question_follows_one_template_only(template: Template) -> None:
    values: dict[str, Value] = {
        "company_name": "A & B's Co.", "focus_year": "2021", "metric": "total_assets", "older_year": 2019,
        "newer_year": 2021, "region": "upper Teal", "loan_status": "C",
    }  # fmt: skip
    question = template.ask(values)
    assert [one for one in TEMPLATES[template.source] if one.hear(question) is not None] == [template]


@pytest.mark.parametrize("template", ALL, ids=lambda template: template.pattern)
def test_a_template_needs_what_its_sql_uses_and_its_question_does_not_say(template: Template) -> None:
    used = set(re.findall(r":([a-z_]+)", template.sql))
    said = set(template.says)
    from_name = {key for key, (name, _) in LOOKUPS.items() if name in said}
    assert used - said - from_name == set(template.needs)
    assert set(template.binds) <= said | from_name


def test_an_id_that_is_not_known_is_looked_up_by_name() -> None:
    sql = UNITS.fill({"company_name": "B's Beverages", "focus_year": "2023"})
    assert "o.CustomerID = (SELECT CustomerID FROM Customers WHERE CompanyName = 'B''s Beverages')" in sql
    assert "o.CustomerID = 'BSBEV'" in UNITS.fill({"customer_id": "BSBEV", "company_name": "x", "focus_year": "2023"})


def test_what_is_missing_is_named() -> None:
    assert UNITS.missing({"focus_year": "2023"}) == ("customer_id",)
    assert UNITS.missing({"company_name": "x"}) == ("focus_year",)
    assert SALES_BY_YEAR.missing({"company_name": "x"}) == ()


def test_the_session_template_keeps_places_for_earlier_values_only() -> None:
    assert "o.CustomerID = '{customer_id}' AND strftime('%Y', o.OrderDate) = '2020'" in FOCUS.with_places(
        {"focus_year": "2020"}
    )


def test_a_newly_named_entity_voids_the_id_known_before() -> None:
    known: dict[str, Value] = {"customer_id": "A", "company_name": "Alpha", "focus_year": "2020"}
    assert learn(known, {"company_name": "Beta"}) == {"company_name": "Beta", "focus_year": "2020"}
    assert learn(known, {"company_name": "Alpha"}) == known
    assert learn(known, {"company_name": "Beta", "customer_id": "B"})["customer_id"] == "B"


def test_a_question_of_another_kind_matches_nothing() -> None:
    assert match("northwind", "Show me everything.") is None
    assert match("oracle", "Which year was highest?") is None


def test_every_question_of_the_released_file_is_understood(released: tuple[Session, ...]) -> None:
    unknown = [turn.question for one in released for turn in one.turns if match(one.source, turn.question) is None]
    assert unknown == []


def test_northwind_gold_follows_from_the_dialogue(
    released: tuple[Session, ...], shared_data: Path, tmp_path: Path
) -> None:
    """On the rows from before Northwind was populated, which end in 2018: the sessions' 2023 becomes 2017."""
    path = tmp_path / "northwind.sqlite"
    path.write_bytes(gzip.decompress((shared_data / "northwind" / "northwind_base.sqlite.gz").read_bytes()))
    moved = [_in_2017(one) for one in released if one.source == "northwind"]
    with GoldRunner({"northwind": path}) as runner:
        assert differing(moved, runner) == []
        blank = [one for one in moved if runner.result("northwind", one.turns[-1].ground_truth_sql).blank]
    assert len(blank) < len(moved) / 5


def _in_2017(session: Session) -> Session:
    text = msgspec.json.encode(session).replace(b"2023", b"2017")
    return msgspec.json.decode(text, type=Session)


def differing(sessions: list[Session], runner: GoldRunner) -> list[str]:
    """The turns whose derived SQL does not give gold's result."""

    def differs(session: Session, turn: Turn, sql: str | None) -> bool:
        gold = runner.result(session.database, turn.ground_truth_sql)
        assert gold.error is None
        return sql is None or runner.result(session.database, sql).digest != gold.digest

    return [
        turn_id(session, turn)
        for session in sessions
        for turn, sql in zip(session.turns, derive(session), strict=True)
        if differs(session, turn, sql)
    ]

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.draw import Draw
from turntide.datasets.enterprisemem.generator import InvariantError, Verification, generate, verify
from turntide.datasets.enterprisemem.generator.profiles import choose, extract
from turntide.datasets.enterprisemem.sessions import Session, dump_sessions
from turntide.datasets.enterprisemem.templates import TEMPLATES, bird, match, northwind, sec_edgar
from turntide.datasets.gold import GoldRunner, Result, Row

replace = msgspec.structs.replace

EMBEDDED = "498f2658e2882517"
"""Digest of the embedded session file. A change here is a change of data: raise `embedded.VERSION` with it."""


def test_the_embedded_sessions_are_the_same_on_every_machine(embedded: tuple[Session, ...]) -> None:
    assert hashlib.sha256(dump_sessions(embedded)).hexdigest()[:16] == EMBEDDED


def test_the_shape_is_the_papers(embedded: tuple[Session, ...]) -> None:
    assert Counter(one.tier for one in embedded) == {1: 90, 2: 120, 3: 90}
    assert Counter(one.source for one in embedded) == {"northwind": 100, "sec_edgar": 120, "bird": 80}
    assert Counter(one.source for one in embedded if len(one.turns) == 10) == {
        "northwind": 7,
        "sec_edgar": 9,
        "bird": 4,
    }
    assert sum(len(one.turns) for one in embedded) == 1_400
    assert sum(sum(one.memory_critical()) for one in embedded) == 1_100
    assert embedded[0].session_id == "NW-1-001"
    assert embedded[-1].session_id == "BIRD-3-020"


def test_every_session_is_distinct_in_content(embedded: tuple[Session, ...]) -> None:
    assert len({one.content_key for one in embedded}) == 300


def test_no_fallback_gives_its_golds_result(generated: tuple[tuple[Session, ...], Verification]) -> None:
    assert generated[1].fallback_same == ()


def test_where_gold_and_fallback_coincide_is_listed(embedded: tuple[Session, ...], runner: GoldRunner) -> None:
    gold = embedded[40].turns[2].ground_truth_sql
    same = changed(embedded, embedded[40].session_id, 3, fallback_sql=gold)
    assert verify(same, runner).fallback_same == (f"{embedded[40].session_id}:3",)


def test_no_follow_up_names_the_entity_that_it_is_about(embedded: tuple[Session, ...]) -> None:
    for one in embedded:
        names = [str(value) for key, value in one.turns[0].state_updates.items() if key in ("company_name", "region")]
        assert not [turn for turn in one.turns[1:] for name in names if name in turn.question]


def test_the_templates_places_are_filled_by_earlier_state_alone(embedded: tuple[Session, ...]) -> None:
    for one in embedded:
        state: dict[str, str | int] = {}
        for turn in one.turns:
            if turn.sql_template is not None:
                assert turn.sql_template.format_map(state) == turn.ground_truth_sql
                assert set(re.findall(r"\{(\w+)\}", turn.sql_template)) == set(turn.referenced_context_keys)
            state |= turn.state_updates


def test_our_wordings_are_none_of_the_released_file(released: tuple[Session, ...]) -> None:
    theirs = {turn.question for one in released for turn in one.turns}
    for module in (northwind, sec_edgar, bird):
        assert not [template for template in module.OURS for question in theirs if template.hear(question) is not None]


def test_every_template_of_ours_is_asked(embedded: tuple[Session, ...]) -> None:
    asked = {found[0] for one in embedded for turn in one.turns if (found := match(one.source, turn.question))}
    assert asked == {template for module in (northwind, sec_edgar, bird) for template in module.OURS}
    assert len(TEMPLATES) == 3


def changed(sessions: tuple[Session, ...], session_id: str, turn: int, **fields: object) -> list[Session]:
    """The sessions with one turn changed."""

    def change(one: Session) -> Session:
        turns = list(one.turns)
        turns[turn - 1] = replace(turns[turn - 1], **fields)
        return replace(one, turns=tuple(turns))

    return [change(one) if one.session_id == session_id else one for one in sessions]


BROKEN: dict[str, tuple[Callable[[tuple[Session, ...]], list[Session]], str]] = {
    "a session is missing": (lambda s: list(s[1:]), "sessions per source and tier must be"),
    "a long session is short": (
        lambda s: [replace(one, turns=one.turns[:9]) if one.session_id == "BIRD-3-001" else one for one in s],
        "all turns must be 1400, found 1399",
    ),
    "a session repeats another": (
        lambda s: [replace(s[1], session_id="NW-1-001"), *s[1:]],
        "sessions distinct in content must be 300, found 299",
    ),
    "an id repeats another": (
        lambda s: [replace(s[0], session_id="NW-1-002"), *s[1:]],
        "session ids must be 300, found 299",
    ),
    "a key was never bound": (
        lambda s: changed(s, "SEC-2-001", 1, state_updates={}),
        "memory-critical flags of SEC-2-001:2",
    ),
    "a gold fails": (
        lambda s: changed(s, "NW-2-001", 3, ground_truth_sql="SELECT missing FROM Orders"),
        "the gold of NW-2-001:3 fails: no such column: missing",
    ),
    "a fallback is empty": (
        lambda s: changed(s, "NW-2-001", 3, fallback_sql="SELECT 1 WHERE 0"),
        "the fallback of NW-2-001:3 gives no value",
    ),
    "a gold is only NULL": (
        lambda s: changed(s, "BIRD-2-001", 2, ground_truth_sql="SELECT SUM(amount) FROM loan WHERE 0"),
        "the gold of BIRD-2-001:2 gives no value",
    ),
    "a gold hides a condition": (
        lambda s: changed(s, "BIRD-3-002", 9, ground_truth_sql="SELECT COUNT(*) FROM loan WHERE status = 'A'"),
        "the gold of BIRD-3-002:9 does not follow from its dialogue",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_invariant_stops_with_its_name(case: str, embedded: tuple[Session, ...], runner: GoldRunner) -> None:
    damage, message = BROKEN[case]
    with pytest.raises(InvariantError, match=re.escape(message)):
        verify(damage(embedded), runner)


def test_a_database_of_another_schema_is_refused(databases: Mapping[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE Orders (OrderID)")
    refused = pytest.raises(
        ConfigurationError, match="database northwind does not have the schema of northwind: no such"
    )
    with GoldRunner({**databases, "northwind": other}) as runner, refused:
        generate(runner)


def test_a_database_with_too_few_entities_is_refused(databases: Mapping[str, Path], tmp_path: Path) -> None:
    small = tmp_path / "financial.sqlite"
    small.write_bytes(databases["financial"].read_bytes())
    with closing(sqlite3.connect(small)) as connection:
        connection.execute("UPDATE loan SET status = 'A'")
        connection.commit()
    refused = pytest.raises(InvariantError, match=r"bird: 15 distinct profiles are needed .* has only 0")
    with GoldRunner({**databases, "financial": small}) as runner, refused:
        generate(runner)


class RealBut(GoldRunner):
    """The real EDGAR and financial databases; Northwind, whose real rows are not published, as in the shared runner."""

    def __init__(self, northwind: GoldRunner, databases: Mapping[str, Path]) -> None:
        super().__init__(databases)
        self._northwind = northwind

    def rows(self, database: str, sql: str) -> list[Row]:
        return self._northwind.rows(database, sql) if database == "northwind" else super().rows(database, sql)

    def result(self, database: str, sql: str) -> Result:
        return self._northwind.result(database, sql) if database == "northwind" else super().result(database, sql)


def test_the_invariants_hold_on_real_databases(runner: GoldRunner, shared_data: Path) -> None:
    real = {"sec_edgar": "enterprisemem/sec_edgar.db", "financial": "bird/financial.sqlite"}
    with RealBut(runner, {name: shared_data / file for name, file in real.items()}) as mixed:
        sessions, verification = generate(mixed)
    assert verification.memory_critical == 1_100
    assert len(verification.fallback_same) <= 3
    companies = {one.turns[0].state_updates.get("company_name") for one in sessions if one.source == "sec_edgar"}
    assert "Apple Inc." in companies


def test_the_seed_decides_who_is_asked_about(runner: GoldRunner) -> None:
    profiles = extract(runner, "bird", frozenset())
    first, again, other = (choose(profiles, "bird", 20, Draw(seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_every_entity_has_its_turn_before_one_comes_twice(runner: GoldRunner) -> None:
    chosen = choose(extract(runner, "bird", frozenset()), "bird", 20, Draw(1))
    assert Counter(Counter(profile["region"] for profile in chosen).values()) == {3: 4, 2: 4}
    assert len({(profile["region"], profile["loan_status"]) for profile in chosen}) == 20

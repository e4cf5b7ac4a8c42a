"""`turntide sql`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from turntide.engine.cli import main


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = tmp_path / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE item (id, name)")
    connection.executemany("INSERT INTO item VALUES (?, ?)", [(n, f"item {n}\x1b[31m") for n in range(30)])
    connection.commit()
    connection.close()
    return str(path)


def test_json_holds_outcome_rows_digests_comparisons_and_timing(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = "SELECT id FROM item ORDER BY id"
    assert main(["sql", database, "SELECT id FROM item ORDER BY id DESC", "--gold", gold, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["status"], report["rows"], report["columns"]) == ("ok", 30, ["id"])
    assert report["excerpt"][0] == [29]
    assert report["seconds"] > 0
    assert report["equal"] == {"strict": True, "multiset": True, "bird": True, "ordered": False}
    assert report["gold_is_ordered"] is True
    assert report["digests"]["strict"] == report["gold"]["digests"]["strict"]


def test_what_is_printed_names_every_comparison_and_cannot_speak_to_the_terminal(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", database, "SELECT * FROM item", "--gold", "SELECT id FROM item"]) == 0
    text = capsys.readouterr().out
    assert "rows      30" in text
    assert "... and 10 more" in text
    for name in ("strict", "multiset", "bird", "ordered"):
        assert f"  {name:<10}different" in text
    assert "\x1b" not in text


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("DROP TABLE item", "denied: 'writing is not allowed'"),
        ("SELECT absent FROM item", "runtime: "),
        ("SELEC", "syntax: "),
        (ENDLESS, "timeout"),
    ],
)
def test_a_statement_that_gave_no_result_exits_with_1_and_says_why(
    sql: str, status: str, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", database, sql, "--timeout", "0.1"]) == 1
    assert f"status    {status}" in capsys.readouterr().out


def test_a_gold_statement_that_gave_no_result_exits_with_1_too(database: str) -> None:
    assert main(["sql", database, "SELECT 1", "--gold", "SELECT absent"]) == 1


def test_a_missing_database_is_the_users_to_mend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", str(tmp_path / "none.sqlite"), "SELECT 1"]) == 2
    assert "no such database file" in capsys.readouterr().err


@pytest.mark.parametrize("timeout", ["0", "-1", "nan", "soon"])
def test_a_deadline_must_be_a_positive_number(timeout: str, database: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["sql", database, "SELECT 1", "--timeout", timeout])
    assert stop.value.code == 2
    assert "--timeout" in capsys.readouterr().err

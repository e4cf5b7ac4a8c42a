"""Trusted SQL ends, whatever the file that it comes from."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from turntide.datasets import gold
from turntide.datasets.gold import GoldRunner

ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"


@pytest.mark.parametrize(
    ("sql", "seconds", "error"),
    [(ENDLESS, 60, "more than 1,000 rows"), (f"{ENDLESS} WHERE x < 0", 0, "stopped after 0 s")],
)
def test_a_query_without_end_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str, seconds: float, error: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "any.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a)")
    monkeypatch.setattr(gold, "LIMIT_ROWS", 1_000)
    with GoldRunner({"any": tmp_path / "any.sqlite"}, limit=seconds) as runner:
        result = runner.result("any", sql)
    assert (result.error, result.of_database) == (error, False)


def test_ctrl_c_in_the_middle_of_a_query_is_no_outcome_of_it(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "any.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a)")
    ctrl_c = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    ctrl_c.start()
    with GoldRunner({"any": tmp_path / "any.sqlite"}, limit=60) as runner, pytest.raises(KeyboardInterrupt):
        runner.result("any", f"{ENDLESS} WHERE x < 0")


@pytest.mark.parametrize(
    ("sql", "of_database"),
    [
        ("SELECT b FROM t", True),
        ("SELECT 1 FROM u", True),
        ("SELEC 1", False),
        ("SELECT (1", False),
        ("SELECT 1; SELECT 2", False),
        ("SELECT a FROM t", False),
    ],
)
def test_an_error_is_the_databases_only_where_another_one_could_do_without_it(
    tmp_path: Path, sql: str, of_database: bool
) -> None:
    with closing(sqlite3.connect(tmp_path / "any.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a)")
    with GoldRunner({"any": tmp_path / "any.sqlite"}) as runner:
        assert runner.result("any", sql).of_database is of_database

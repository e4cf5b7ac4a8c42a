"""`turntide tide commitments` and `turntide tide drift`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from turntide.datasets.tide.cli import add_parser, run

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `turntide …` and return its exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        parser = argparse.ArgumentParser(prog="turntide")
        add_parser(parser.add_subparsers())
        code = run(parser.parse_args(["tide", *arguments]))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_commitments_are_listed_one_a_line(command: Command) -> None:
    assert command("commitments", "SELECT T.a FROM t AS T WHERE T.b = 1 LIMIT 2") == (
        0,
        "filter  WHERE t.b = 1\noutput  LIMIT 2\noutput  SELECT t.a\n",
        "",
    )


def test_a_database_qualifies_the_names(command: Command, database: Path) -> None:
    code, out, _ = command("commitments", 'SELECT name FROM shop WHERE city = "Oslo"', "--database", str(database))
    assert (code, out) == (0, "filter  WHERE shop.city = 'Oslo'\noutput  SELECT shop.name\n")


def test_commitments_as_json_have_both_forms(command: Command) -> None:
    code, out, _ = command("commitments", "SELECT 1 WHERE 2 IN (SELECT a FROM t)", "--json")
    assert code == 0
    assert json.loads(out)["commitments"][1] == {
        "side": "filter",
        "path": ["WHERE ? IN (SELECT ...)"],
        "clause": "select",
        "value": "a",
        "structure": "a",
    }


def test_drift_prints_the_verdict_and_both_differences(command: Command) -> None:
    code, out, _ = command("drift", "--pre", "SELECT a FROM t WHERE b = 1", "--post", "SELECT a FROM t WHERE b = 2")
    assert (code, out) == (0, "value (literal_replaced)\n- filter  WHERE b = 1\n+ filter  WHERE b = 2\n")


def test_drift_as_json_names_the_fine_subtype(command: Command) -> None:
    code, out, _ = command("drift", "--pre", "SELECT a FROM t", "--post", "SELECT b FROM t", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["verdict"], found["reason"], found["fine_subtype"]) == ("projection", "output_changed", "select")
    assert [unit["value"] for unit in (*found["retracted"], *found["added"])] == ["a", "b"]


def test_sql_that_does_not_parse_is_a_usage_error_that_shows_it(command: Command) -> None:
    code, out, err = command("drift", "--pre", "SELECT a FROM t", "--post", "SELECT COUNT(* FROM t")
    assert (code, out) == (2, "")
    assert err == "turntide: the SQL does not parse: Expecting ) (line 1, column 19)\n  SELECT COUNT(* FROM t\n"


@pytest.mark.parametrize("content", [None, "this is no database, whatever its name says"])
def test_a_database_that_cannot_be_read_is_a_usage_error(command: Command, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "x.sqlite"
    if content:
        path.write_text(content, encoding="utf-8")
    code, _, err = command("commitments", "SELECT a FROM t", "--database", str(path))
    assert code == 2
    assert err.startswith(f"turntide: --database {path}: ")

"""`turntide tide commitments` and `turntide tide drift`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.tide.cli import add_commands

Command = Callable[..., str]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `turntide tide …` and return what it prints."""

    def call(*arguments: str) -> str:
        parser = argparse.ArgumentParser(prog="turntide tide")
        add_commands(parser.add_subparsers())
        args = parser.parse_args(arguments)
        assert args.run(args) == 0
        return capsys.readouterr().out

    return call


def test_commitments_are_listed_one_a_line(command: Command) -> None:
    out = command("commitments", "SELECT T.a FROM t AS T WHERE T.b = 1 LIMIT 2")
    assert out == "filter  WHERE t.b = 1\noutput  LIMIT 2\noutput  SELECT t.a\n"


def test_a_database_qualifies_the_names(command: Command, database: Path) -> None:
    out = command("commitments", 'SELECT name FROM shop WHERE city = "Oslo"', "--database", str(database))
    assert out == "filter  WHERE shop.city = 'Oslo'\noutput  SELECT shop.name\n"


def test_commitments_as_json_have_both_forms(command: Command) -> None:
    found = json.loads(command("commitments", "SELECT 1 WHERE 2 IN (SELECT a FROM t)", "--json"))
    assert found["commitments"][1] == {
        "side": "filter",
        "path": ["WHERE ? IN (SELECT ...)"],
        "clause": "select",
        "value": "a",
        "structure": "a",
    }


def test_drift_prints_the_verdict_and_both_differences(command: Command) -> None:
    out = command("drift", "--pre", "SELECT a FROM t WHERE b = 1", "--post", "SELECT a FROM t WHERE b = 2")
    assert out == "value (literal_replaced)\n- filter  WHERE b = 1\n+ filter  WHERE b = 2\n"


def test_drift_as_json_names_the_fine_subtype(command: Command) -> None:
    found = json.loads(command("drift", "--pre", "SELECT a FROM t", "--post", "SELECT b FROM t", "--json"))
    assert (found["verdict"], found["reason"], found["fine_subtype"]) == ("projection", "output_changed", "select")
    assert [unit["value"] for unit in (*found["retracted"], *found["added"])] == ["a", "b"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("commitments", "SELECT COUNT(* FROM t"),
        ("drift", "--pre", "SELECT a FROM t", "--post", "SELECT COUNT(* FROM t"),
        ("drift", "--pre", "SELECT COUNT(* FROM t", "--post", "SELECT a FROM t"),
    ],
)
def test_sql_that_does_not_parse_is_shown_with_the_place(command: Command, arguments: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        command(*arguments)
    assert str(caught.value) == ("the SQL does not parse: Expecting ) (line 1, column 19)\n  SELECT COUNT(* FROM t")


@pytest.mark.parametrize("content", [None, "this is no database, whatever its name says"])
def test_a_database_that_cannot_be_read_is_named(command: Command, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "x.sqlite"
    if content:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=rf"--database .*{path.name}: "):
        command("commitments", "SELECT a FROM t", "--database", str(path))

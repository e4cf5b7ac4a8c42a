"""What a construction's report says: a funnel that adds up to the benchmark that is left, and warnings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from turntide.engine.cli import main

from .conftest import ANCHORS, tables_of, words_of


def assert_adds_up(tables: dict[str, list[list[Any]]], anchors: int) -> int:
    """Check that every anchor is in one place of the funnel; return the number of triplets."""
    entered = {row[0]: row[2] for row in tables["funnel"]}
    kept = {row[0]: row[4] for row in tables["funnel"]}
    assert entered["chain rules"] == entered["chain"] == entered["triplets"] == anchors
    assert entered["chain judges"] == kept["chain rules"]
    assert kept["chain judges"] == kept["chain"] == entered["evidence"]
    assert entered["drift checks"] == kept["evidence"]
    assert entered["drift judges"] == kept["drift checks"]
    assert kept["triplets"] == kept["drift judges"]
    assert tables["dropped"][-1][2] + kept["triplets"] == anchors
    assert sum(row[2] for row in tables["dropped"][:-1]) == tables["dropped"][-1][2]
    assert sum(row[2] for row in tables["composition"] if row[0] == "subtype") == kept["triplets"]
    return kept["triplets"]


def test_on_birds_questions_the_funnel_adds_up_and_what_is_left_is_a_benchmark(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With models that make every kind of mistake; what comes out passes every check and runs."""
    bird = shared_data / "bird"
    few = [each for each in json.loads((bird / "dev.json").read_text()) if each["db_id"] == "superhero"][::6]
    (tmp_path / "dev.json").write_text(json.dumps(few))
    data = ["--data", str(bird)]
    anchors = ["tide-build", "anchors", "--questions", str(tmp_path / "dev.json"), *data, "--count", "12", "--json"]
    assert main([*anchors, "--out", str(tmp_path / "anchors.json")]) == 0
    drawn = json.loads(capsys.readouterr().out)["drawn"]
    words = [
        "run", "tide-build", "--anchors", str(tmp_path / "anchors.json"), *data, "--attempts", "2", "--model",
        "sim/tide-generator?invariant=0.2&wrong_subtype=0.2&unchanged=0.1&syntax=0.1", "--judge",
        "sim/tide-judge?rejects=0.1", "--judge", "sim/tide-judge?rejects=0.1&preamble=0.1", "--sql-workers", "1",
    ]  # fmt: skip
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    tables = tables_of(tmp_path / "run", capsys)
    left = assert_adds_up(tables, drawn)
    assert 0 < left < drawn
    signals = {row[1] for row in tables["attempts"]}
    assert {"passed", "json_format", "subtype_mismatch"} <= signals
    assert all(row[2] and 0 < row[3]["value"] <= 100 for row in tables["agreement"])
    samples = str(tmp_path / "triplets.json.gz")
    assert main(["tide-build", "assemble", str(tmp_path / "run"), "--out", samples]) == 0
    assert main(["data", "check", "tide", "--samples", samples, *data, "--json"]) == 0
    capsys.readouterr()
    run = ["run", "tide", "--samples", samples, *data, "--model", "sim/tide-perfect", "--limit", "2"]
    assert main([*run, "--sql-workers", "1", "--out", str(tmp_path / "tide")]) == 0
    capsys.readouterr()
    assert main(["report", str(tmp_path / "tide"), "--json"]) == 0
    warnings = json.loads(capsys.readouterr().out)["report"]["warnings"]
    assert any("No action came from sim/tide-perfect in any dialogue" in warning for warning in warnings)


def test_without_any_model_no_model_need_be_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words_of(place, "--chain", "none", "--drift", "tree", out="tree")) == 0
    capsys.readouterr()
    assert main(["report", str(place / "tree")]) == 0
    said = capsys.readouterr().out
    assert "SIMULATED" not in said
    assert "UNJUDGED" in said
    assert "model" not in next(line for line in said.splitlines() if "evidence" in line and "pieces" in line)
    tables = tables_of(place / "tree", capsys)
    shares = {row[0]: (row[5], row[7]) for row in tables["funnel"]}
    undecided = {name for name, found in shares.items() if found == (None, None)}
    assert undecided == {"chain rules", "chain judges", "chain", "evidence", "drift judges"}
    assert shares["triplets"][1] is None, "the paper's judges decided on its 514 of 830"
    assert assert_adds_up(tables, ANCHORS) == ANCHORS
    assert tables["cost"] == []


def test_a_report_warns_when_the_databases_are_not_those_of_the_anchors(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import sqlite3
    from contextlib import closing

    shutil.copy(place / "shop.sqlite", tmp_path / "shop.sqlite")
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection, connection:
        connection.execute("UPDATE person SET age = age + 1")
    words = ["--chain", "none", "--drift", "tree", "--data", str(tmp_path)]
    assert main(words_of(place, *words, out="moved")) == 0
    capsys.readouterr()
    assert main(["report", str(place / "moved")]) == 0
    assert "warning: The anchors were selected on other files of shop" in capsys.readouterr().out

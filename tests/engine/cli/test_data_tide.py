from __future__ import annotations

import codecs
import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from turntide.datasets.tide.files import TripletFile, load_triplets
from turntide.datasets.tide.triplets import build
from turntide.engine.cli import main

DOCUMENT = Path(__file__).parents[3] / "docs" / "tide-format.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with the example of the documentation and a database that it is about."""
    with closing(sqlite3.connect(tmp_path / "financial.sqlite")) as connection:
        connection.execute("CREATE TABLE loan (loan_id, duration, status)")
        rows = [(1, 24, "D"), (2, 24, "D"), (3, 36, "D"), (4, 24, "B")]
        connection.executemany("INSERT INTO loan VALUES (?, ?, ?)", rows)
        connection.commit()
    found = re.search(r"```json\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found
    (tmp_path / "samples.json").write_text(found[1])
    return tmp_path


def edit(folder: Path, place: int, **fields: object) -> None:
    document = json.loads((folder / "samples.json").read_text())
    document["triplets"][0]["stages"][place] |= fields
    (folder / "samples.json").write_text(json.dumps(document))


def check(folder: Path, *more: str) -> int:
    return main(["data", "check", "tide", "--samples", str(folder / "samples.json"), "--data", str(folder), *more])


def test_check_reports_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(folder, "--json") == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["gold_ok"], report["drift_ok"], report["errors"]) == (True, 2, 1, {})
    assert report["statistics"]["samples"] == {"chain": 1, "drift": 1, "joint": 1}
    assert report["databases"]["financial"]["synthetic"] is False
    assert not any(report["quirks"].values())


def test_a_byte_order_mark_before_the_file_is_passed_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "samples.json"
    file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    assert check(folder) == 0
    assert "gold: 2 return rows" in capsys.readouterr().out


def test_check_reports_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(folder) == 0
    text = capsys.readouterr().out
    assert "an example (synthetic)\ngold: 2 return rows, 0 are empty, 0 fail, 0 do not parse" in text
    assert "drift: 1 of 1 pass the eight checks" in text
    assert "verdicts: eliminated 0 (0.0%), transformed 1 (100.0%)" in text
    assert "value: tiers 1/0/0 -> 1/0/0; tokens +0.00" in text
    assert "financial: real" in text


@pytest.mark.parametrize(
    ("place", "fields", "text"),
    [
        (0, {"sql": "SELECT colour FROM loan"}, "first financial-000:1: no such column: colour."),
        (0, {"sql": "no query"}, "first financial-000:1: "),
        (1, {"sql": "SELECT loan_id FROM loan WHERE duration = 48"}, "financial-000:2: the post-drift query returns"),
        (1, {"drift": {"subtype": "constraint"}}, "it is value (literal_replaced), not constraint."),
        (1, {"sql": "SELECT COUNT(loan_id) FROM loan WHERE duration = 24 AND status = 'D'"}, "both queries return the"),
    ],
    ids=["a gold fails", "a gold does not parse", "a gold is empty", "another subtype", "no effect"],
)  # fmt: skip
def test_what_does_not_hold_ends_with_code_two_and_is_named(
    folder: Path, place: int, fields: dict[str, object], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(folder, place, **fields)
    assert check(folder) == 2
    told = capsys.readouterr().err
    assert text in told
    assert ("Check that the databases" in told) is ("no such column" in text or "query returns" in text)


def test_oddities_are_listed_by_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads((folder / "samples.json").read_text())
    odd = json.loads(json.dumps(document["triplets"][0])) | {"id": "financial-001"}
    odd["stages"][0]["nodes"] = {"WHERE nowhere": "?"}
    odd["stages"][0]["tier"] = "advanced"
    odd["stages"][0]["layers"][0]["nodes"] = []
    twin = document["triplets"][0] | {"id": "financial-002"}
    document["triplets"] += [odd, twin]
    (folder / "samples.json").write_text(json.dumps(document))
    assert check(folder, "--json") == 0
    assert {rule: ids for rule, ids in json.loads(capsys.readouterr().out)["quirks"].items() if ids} == {
        "repeated_content": ["financial-002"],
        "another_tier": ["financial-001"],
        "unknown_nodes": ["financial-001"],
        "nothing_settled": ["financial-001"],
    }


def test_a_database_beyond_the_four_is_found_by_its_name_as_in_bird(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads((folder / "samples.json").read_text())
    document["triplets"][0]["database"] = "cards"
    (folder / "samples.json").write_text(json.dumps(document))
    assert main(["data", "check", "tide", "--samples", str(folder / "samples.json")]) == 2
    assert "database cards has no look-alike: say where it is with --data DIR" in capsys.readouterr().err
    assert check(folder) == 2
    assert "database cards: no cards.sqlite in" in capsys.readouterr().err
    (folder / "cards").mkdir()
    (folder / "financial.sqlite").rename(folder / "cards" / "cards.sqlite")
    assert check(folder) == 0


def test_options_of_another_benchmark_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(folder, "--sessions", "x") == 2
    assert "--sessions is not for tide" in capsys.readouterr().err
    assert main(["data", "check", "tide", "--data", str(folder)]) == 2
    assert "name yours with --samples FILE" in capsys.readouterr().err


def test_build_writes_triplets_over_given_databases(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = load_triplets(folder / "samples.json")

    def generate(databases: Mapping[str, Path], seed: int, cells: None) -> TripletFile:
        assert (set(databases), seed, cells) == ({"financial", "superhero", "northwind", "sec_edgar"}, 5, None)
        return made

    monkeypatch.setattr(build, "generate", generate)
    names = [f"{name}={folder / 'financial.sqlite'}" for name in ("financial", "superhero", "northwind", "sec_edgar")]
    places = [word for name in names for word in ("--database", name)]
    out = folder / "made.json.gz"
    assert main(["data", "build", "tide", "--seed", "5", "--out", str(out), *places]) == 0
    assert "triplets 1 (1 distinct in content), samples 3" in capsys.readouterr().out
    assert load_triplets(out) == made
    assert main(["data", "build", "tide", "--seed", "5", *places]) == 2
    assert "need a place: --out FILE" in capsys.readouterr().err
    monkeypatch.setattr(build, "generate", None)
    assert main(["data", "build", "tide", "--out", str(folder / "nowhere" / "made.json"), *places]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_databases_of_another_schema_are_said_not_to_carry_the_templates(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"{name}={folder / 'financial.sqlite'}" for name in ("financial", "superhero", "northwind", "sec_edgar")]
    places = [word for name in names for word in ("--database", name)]
    assert main(["data", "build", "tide", "--out", str(folder / "x.json"), *places]) == 2
    assert "these databases do not carry the templates: no such " in capsys.readouterr().err

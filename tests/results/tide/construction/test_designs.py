"""Constructions beyond the paper's design, from the anchors to the benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from turntide.engine.cli import main

from .conftest import MODELS, tables_of, words_of

DESIGN = ["--depth", "3", "--drifts", "2", "--chain-at", "1"]


@pytest.fixture(scope="module")
def designed(place: Path) -> Path:
    """Anchors of the shop that carry two drifts, the first of which opens a chain of three."""
    words = ["tide-build", "anchors", "--questions", str(place / "dev.json"), "--data", str(place), *DESIGN]
    assert main([*words, "--out", str(place / "designed.json")]) == 0
    return place / "designed.json"


def test_a_design_beyond_the_papers_is_built_in_the_order_of_its_dialogue_and_adds_up(
    place: Path, designed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anchors = len(json.loads(designed.read_text())["anchors"])
    words = words_of(place, *MODELS, "--anchors", str(designed), out="designed")
    assert main([*words, "--dry-run", "--json"]) == 0
    calls = {name: each["calls"] for name, each in json.loads(capsys.readouterr().out)["models"].items()}
    assert calls["judge 1"] == calls["judge 2"] == 4 * anchors, "two layers and two drifts for each judge"
    assert main(words) == 0
    capsys.readouterr()
    tables = tables_of(place / "designed", capsys)
    assert [row[0] for row in tables["funnel"]] == [
        "drift checks", "drift judges", "chain rules", "chain judges", "chain", "evidence", "drift 2 checks",
        "drift 2 judges", "triplets",
    ]  # fmt: skip
    counts = {row[0]: (row[2], row[4]) for row in tables["funnel"]}
    order = ["drift checks", "drift judges", "chain", "evidence", "drift 2 checks", "drift 2 judges"]
    assert [counts[name][0] for name in order[1:]] == [counts[name][1] for name in order[:-1]]
    assert counts["drift checks"][0] == tables["dropped"][-1][2] + counts["triplets"][1] == anchors
    assert {row[-1] for row in tables["funnel"]} == {None}, "the paper published nothing of this design"
    made = place / "designed.json.gz"
    assert main(["tide-build", "assemble", str(place / "designed"), "--out", str(made)]) == 0
    capsys.readouterr()
    assert main(["data", "check", "tide", "--samples", str(made), "--data", str(place), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["statistics"]["plans"] == {"drift, chain 3, drift": counts["triplets"][1]}
    assert found["drift_ok"] == 2 * counts["triplets"][1] > 0


def test_what_no_design_can_be_is_said_at_the_anchors(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tide-build", "anchors", "--questions", str(place / "dev.json"), "--data", str(place), "--out", "x"]
    for design, said in (
        (["--depth", "1"], "--depth must be at least 2"),
        (["--drifts", "0"], "--drifts must be at least 1"),
        (["--chain-at", "2"], "--chain-at 2 names a drift that --drifts 1 does not reach"),
        (["--depth", "40"], "no question became an anchor"),
    ):
        assert main([*words, *design]) == 2
        assert said in capsys.readouterr().err


def test_templates_open_no_chain_with_a_drift(place: Path, designed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--chain", "template", "--evidence", "rules", "--drift", "tree", "--anchors", str(designed)]
    assert main(words_of(place, *words, out="bad")) == 2
    assert "`turntide data build tide --chain-at` makes both at once" in capsys.readouterr().err

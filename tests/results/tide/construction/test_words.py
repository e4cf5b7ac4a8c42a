"""The words that a construction is begun and assembled with: bad ones, and a dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from turntide.engine.cli import main

from .conftest import MODELS, QUESTIONS, words_of

BAD: list[tuple[list[str], str]] = [
    (["--judge", "sim/tide-judge", "--model", "sim/tide-generator"], "two judges must pass a piece, or none do"),
    ([], "no model"),
    (["--chain", "template"], "no model"),
    (["--chain", "nofile.json"], "there is no such file as nofile.json"),
    (["--judge", "sim/tide-judge"] * 2 + ["--model", "sim/tide-generator"], "--judge names one model twice"),
    (["--model", "sim/tide-generator", "--drift", "trees"], "--drift is model, tree or a file of triplets"),
    (["--model", "sim/tide-generator", "--tester", "gpt"], "is not provider/model"),
    (["--model", "sim/tide-generator", "--attempts", "0"], ">= 1"),
    (["--model", "sim/tide-generator", "--anchors", str(QUESTIONS)], "is no file of anchors"),
    (["--model", "sim/tide-generator", "--anchors", ""], "--anchors FILE is missing"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_says_what_to_do(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(words_of(place, *words, out="bad")) == 2
    assert said in capsys.readouterr().err
    assert not (place / "bad").exists()


def test_only_constructions_are_assembled(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tide-build", "assemble", str(place / "nowhere"), "--out", str(tmp_path / "x")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_dry_run_counts_one_call_for_each_piece_and_judge(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words_of(place, *MODELS, out="dry"), "--dry-run", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert sorted(each["calls"] for each in models.values()) == [3, 6, 6, 6, 9]
    assert not (place / "dry").exists()

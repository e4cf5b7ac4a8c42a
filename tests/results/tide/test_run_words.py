"""The words that a run is begun with: bad ones, a limit, and a dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from turntide.engine.cli import main

from tests.support.commands import exit_code

BAD = [
    (["run", "tide", "--model", "sim/tide-perfect", "--protocol", "g"], "'g' is none of f, p"),
    (["run", "tide", "--model", "sim/tide-perfect", "--set", "chain,all"], "'all' is none of chain, drift, joint"),
    (["run", "tide", "--model", "sim/tide-perfect", "--samples", "x.json"], "--data DIR"),
    (["run", "tide", "--model", "sim/tide-perfect", "--user-model", "gpt"], "--user-model is rules or provider/model"),
    (
        ["run", "tide", "--model", "sim/tide-perfect", "--user-model", "nope/x", "--limit", "3"],
        "unknown adapter 'nope'",
    ),
    (
        ["run", "tide", "--model", "sim/tide-perfect", "--set", "drift", "--protocol", "p", "--limit", "3"],
        "nothing to run",
    ),
    (["tide", "check-simulator", "--user-model", "gpt"], "is not provider/model"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words[4:]) for words, _ in BAD])
def test_bad_input_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code = exit_code(words)
    shown = capsys.readouterr()
    assert code == 2
    assert said in shown.err + shown.out


def test_what_a_limit_cuts_off_is_not_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "tide", "--model", "sim/tide-perfect", "--sql-workers", "1", "--protocol", "f"]
    assert main([*words, "--limit", "4", "--out", str(tmp_path / "cut")]) == 0  # the fourth is a chain without a drift
    assert main(["compare", str(tmp_path / "cut"), "--by", "part", "--fail-if-worse=100"]) == 0
    assert "INCOMPLETE" not in capsys.readouterr().out


def test_a_dry_run_counts_the_questions_to_the_user_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "tide", "--model", "sim/tide-perfect", "--user-model", "sim/tide-user", "--limit", "1"]
    assert main([*words, "--dry-run", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    # f: 3 + 2 + 4 turns of a chain-only, drift-only and joint sample; p: 2 + 3. Each question is routed and answered.
    assert models["sim/tide-perfect"]["calls"] == 14
    assert models["user"]["calls"] == 2 * (2 + 2 + 1 + 1)
    assert (models["sim/tide-perfect"]["dialogues"], models["user"]["dialogues"]) == (5, 0)


def test_a_dry_run_in_batches_counts_the_users_rounds_between_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "tide", "--model", "sim/tide-perfect", "--user-model", "sim/tide-user", "--limit", "3", "--batch"]
    assert main([*words, "--dry-run", "--json"]) == 0
    dry = json.loads(capsys.readouterr().out)
    # The joint sample under f is the longest: two questions, each routed and answered, and two queries.
    assert {name: each["batches"] for name, each in dry["models"].items()} == {"sim/tide-perfect": 4, "user": 4}
    assert dry["total"]["batches"] == 8

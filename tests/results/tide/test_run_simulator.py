"""The user of a run when it is a model: its check, its failures, and whether it is a simulated one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from turntide.adapters.simulated import SimulatedServer
from turntide.datasets.tide.simulator.probes import probes
from turntide.engine.cli import main
from turntide.results.table import Rate
from turntide.results.tide.simulator import FAULT, Decisions, tables

from .conftest import report_of


def test_the_summary_counts_what_a_failing_user_left_unscored_as_the_report_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "tide", "--model", "sim/tide-perfect", "--user-model", "sim/echo", "--limit", "1"]
    words += ["--sql-workers", "1", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    head, unscored, *_ = capsys.readouterr().out.splitlines()
    assert head.startswith("complete: 5 of 5 dialogues in ")
    assert unscored.startswith("  4 of them not scored: the user simulator failed")
    assert main([*words, "--json"]) == 0  # nothing is left to do, and the count is that of earlier parts
    assert list(json.loads(capsys.readouterr().out)["unscored"].values()) == [4]
    marks = json.loads(report_of(tmp_path / "run", capsys))["report"]["marks"]
    assert marks["INCOMPLETE"].startswith("1 of 5 dialogues are scored, 4 of the others ended by a fault")


def test_the_check_scores_the_rules_and_a_model_with_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tide", "check-simulator", "--json"]) == 0
    by_rules = json.loads(capsys.readouterr().out)["tables"]
    words = ["tide", "check-simulator", "--user-model", "sim/tide-user", "--out", str(tmp_path / "check")]
    assert main([*words, "--json"]) == 0
    by_model = json.loads(capsys.readouterr().out)
    accuracy, confusion = by_rules
    assert list(accuracy["columns"][1:4]) == ["Una", "Amb", "Loc"]
    assert all(cell["scored"] >= 60 and cell["low"] < cell["value"] < cell["high"] for cell in accuracy["rows"][0][1:4])
    assert sum(sum(row[1:]) for row in confusion["rows"]) == accuracy["rows"][0][-1]["scored"]
    assert by_model["tables"][0]["rows"][0][1:] == accuracy["rows"][0][1:]
    assert "SIMULATED" in by_model["marks"]
    assert main(["report", str(tmp_path / "check")]) == 0
    assert "Router accuracy" in capsys.readouterr().out


def test_a_router_without_decisions_is_right_about_nothing() -> None:
    nothing = Decisions("mute", {probe.id: FAULT for probe in probes()})
    accuracy, confusion = tables([nothing])
    assert [cell.hits for cell in accuracy.rows[0] if isinstance(cell, Rate)] == [0] * 5
    assert [row[-1] for row in confusion.rows] == [36, 36, 72, 72]


def test_a_simulated_server_under_another_name_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with SimulatedServer.start() as server:
        monkeypatch.setenv("TURNTIDE_LOCAL_BASE_URL", server.base_url)
        words = [
            "--limit",
            "1",
            "--set",
            "chain",
            "--protocol",
            "f",
            "--sql-workers",
            "1",
            "--out",
            str(tmp_path / "run"),
        ]
        assert main(["run", "tide", "--model", "local/tide-perfect", "--user-model", "local/tide-user", *words]) == 0
        words = ["--user-model", "local/tide-user", "--out", str(tmp_path / "check"), "--json"]
        capsys.readouterr()
        assert main(["tide", "check-simulator", *words]) == 0
    assert "SIMULATED" in json.loads(capsys.readouterr().out)["marks"]
    assert json.loads(report_of(tmp_path / "run", capsys))["report"]["marks"]["SIMULATED"].startswith("the models")

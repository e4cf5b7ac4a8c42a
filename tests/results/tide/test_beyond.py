"""Deeper chains, several drifts and drifts before the chain, from the command line to the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from turntide.engine.cli import main

PERFECT = "sim/tide-perfect"
TWO_LAYERS = "sim/tide-perfect?asks=first_two"
FIRST_DRIFT = "sim/tide-perfect?drifts=forgets_later"
NO_DRIFT = "sim/tide-forgets-drift"
NO_QUESTION = "sim/tide-never-asks"
MODELS = (PERFECT, TWO_LAYERS, FIRST_DRIFT, NO_DRIFT, NO_QUESTION)
Values = Mapping[tuple[str, ...], list[float | None]]

ALL = [100.0, 100.0, 100.0]
THIRD, TWO_THIRDS = 100 / 3, 200 / 3


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Three triplets with chains of three, opened by the question, the first and the second of two drifts."""
    folder = tmp_path_factory.mktemp("beyond")
    design = ["--depth", "3", "--drifts", "2", "--chain-at", "0,1,2", "--count", "3"]
    assert main(["data", "build", "tide", *design, "--out", str(folder / "deep.json")]) == 0
    models = [word for model in MODELS for word in ("--model", model)]
    run = ["run", "tide", "--samples", str(folder / "deep.json"), "--data", "synthetic", *models]
    assert main([*run, "--sql-workers", "1", "--out", str(folder / "run")]) == 0
    assert main(["report", str(folder / "run"), "--format", "json", "--out", str(folder / "report.json")]) == 0
    return json.loads((folder / "report.json").read_text())["report"]


def _values(report: Mapping[str, Any], key: str, labels: int) -> Values:
    """Return a table's rates in percent by its labels."""
    (table,) = (each for each in report["tables"] if each["key"] == key)
    found: dict[tuple[str, ...], list[float | None]] = {}
    for row in table["rows"]:
        cells = [cell for cell in row[labels:] if not isinstance(cell, int)]
        found[tuple(map(str, row[:labels]))] = [cell and cell["value"] for cell in cells]
    return found


# By model: of L1, L2 and L3 under the f-protocol, and JIR to there. Two thirds of the joint samples open their chain
# with a drift, one third with the second; an agent that forgets a drift never hears what it opens.
IDENTIFIED: Mapping[str, Mapping[str, list[float]]] = {
    "Chain-only": {
        PERFECT: ALL, FIRST_DRIFT: ALL, NO_DRIFT: ALL, TWO_LAYERS: [100, 100, 0], NO_QUESTION: [0, 0, 0],
    },
    "Joint": {
        PERFECT: ALL, TWO_LAYERS: [100, 100, 0], NO_QUESTION: [0, 0, 0],
        FIRST_DRIFT: [TWO_THIRDS] * 3, NO_DRIFT: [THIRD] * 3,
    },
}  # fmt: skip


def test_each_layer_is_identified_as_follows_from_what_the_agent_asks(report: Mapping[str, Any]) -> None:
    found = _values(report, "layers", 3)
    for kind, models in IDENTIFIED.items():
        for model, expected in models.items():
            for layer, value in enumerate(expected, 1):
                rate, primed, jointly, often = found[kind, f"L{layer}", model]
                assert (rate, jointly, often) == pytest.approx((value, value, value)), (kind, model, layer)
                assert primed is None if layer == 1 else primed == pytest.approx(value)


def test_jir_and_ar_of_the_seven_metrics_are_those_of_the_whole_chain(report: Mapping[str, Any]) -> None:
    (table,) = (each for each in report["tables"] if each["key"] == "metrics")
    place = {name: table["columns"].index(name) for name in ("JIR", "AR", "L1-IR", "L2-IRp")}
    rows = {row[3]: row for row in table["rows"] if row[:3] == ["all", "", "Chain-only"]}
    values = {model: {name: rows[model][at]["value"] for name, at in place.items()} for model in MODELS}
    assert values[PERFECT] == {"JIR": 100, "AR": 100, "L1-IR": 100, "L2-IRp": 100}
    assert values[TWO_LAYERS] == {"JIR": 0, "AR": 100, "L1-IR": 100, "L2-IRp": 100}
    assert values[NO_QUESTION] == {"JIR": 0, "AR": 0, "L1-IR": 0, "L2-IRp": 0}


# DRR, DRA and DEA to here, of the first drift and of the second, on drift-only samples.
DRIFTS: Mapping[str, tuple[list[float], list[float]]] = {
    PERFECT: (ALL, ALL),
    TWO_LAYERS: (ALL, ALL),
    NO_QUESTION: (ALL, ALL),
    FIRST_DRIFT: (ALL, [0, 0, 0]),
    NO_DRIFT: ([0, 0, 0], [0, 0, 0]),
}


def test_each_drift_is_recognised_and_resolved_as_follows_from_what_the_agent_does(report: Mapping[str, Any]) -> None:
    found = _values(report, "drifts", 3)
    for model, expected in DRIFTS.items():
        for number, values in enumerate(expected, 1):
            assert found["Drift-only", str(number), model] == pytest.approx(values), (model, number)
    assert found["Joint", "1", PERFECT] == found["Joint", "2", PERFECT] == ALL
    # The joint samples too: the drift is heard, whatever is guessed about its chain.
    assert [found["Joint", number, TWO_LAYERS][0] for number in "12"] == [100, 100]


def test_a_perfect_agent_is_perfect_under_every_plan(report: Mapping[str, Any]) -> None:
    (table,) = (each for each in report["tables"] if each["key"] == "metrics")
    plans = [row for row in table["rows"] if row[0] == "plan" and row[3] == PERFECT]
    assert {row[1] for row in plans} == {"chain 3, drift, drift", "drift, chain 3, drift", "drift, drift, chain 3"}
    rates = [cell["value"] for row in plans for cell in row[5:] if cell is not None]
    drift_only = [row for row in plans if row[2] == "Drift-only"]
    assert sorted(set(rates)) == [0, 100]
    assert rates.count(0) == len(drift_only), "AR on drift-only samples, where nothing is open"


def test_without_deeper_chains_and_further_drifts_the_report_is_the_papers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "tide", "--model", PERFECT, "--limit", "2", "--sql-workers", "1", "--out", str(tmp_path / "run")]
    assert main(run) == 0
    capsys.readouterr()
    assert main(["report", str(tmp_path / "run"), "--json"]) == 0
    tables = {table["key"]: table for table in json.loads(capsys.readouterr().out)["report"]["tables"]}
    assert not {"layers", "drifts"} & set(tables)
    assert "plan" not in {row[0] for row in tables["metrics"]["rows"]}
    assert '"shape"' not in (tmp_path / "run" / "manifest.json").read_text()

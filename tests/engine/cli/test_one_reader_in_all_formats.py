"""A sweep over the simulated provider in all four wire formats: one reader, one result."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.simulated.config import configured
from turntide.adapters.simulated.process import SimulatedServer
from turntide.engine.cli import main
from turntide.engine.journal import scan

READER = "sim/reader-good"
FORMATS = {f"{READER}{variant}" for variant in ("", "@responses", "@anthropic", "@gemini")}
STORMY = {"latency": "uniform:0:0.02", "faults": {"429": 0.05, "500": 0.05, "529": 0.03}, "retry_after": 0.05}


def test_a_reader_comes_to_the_same_outcomes_in_every_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "enterprisemem", "--limit", "12", "--out", "run", "--backoff", "0.02", "--retries", "9"]
    words += [word for condition in ("A", "B", "C") for word in ("--condition", condition)]
    with SimulatedServer.start(configured(STORMY)) as server:
        monkeypatch.setenv("TURNTIDE_SIM_BASE_URL", server.base_url)
        assert main([*words, *(word for name in sorted(FORMATS) for word in ("--model", name))]) == 0
    capsys.readouterr()
    outcomes: defaultdict[str, list[str]] = defaultdict(list)
    for line in scan(Path("run/journal.jsonl")):
        if line["k"] == "record":
            fields: dict[str, Any] = dict(line["fields"])
            outcomes[fields.pop("model")].append(json.dumps(fields, sort_keys=True))
    assert outcomes.keys() == FORMATS
    assert len({tuple(sorted(each)) for each in outcomes.values()}) == 1
    assert len({json.loads(each)["category"] for each in outcomes[READER]}) > 1

    assert main(["report", "run", "--table", "ex_by_condition", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["report"]["tables"]
    rates = {json.dumps(row[1:]) for row in table["rows"] if row[0] in FORMATS}
    assert len(rates) == 1

"""Other people's readers, in processes of their own, load what is written for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from turntide.engine.cli import main

from ...support.sweeps import Sweep, Talk, write
from .conftest import Reader

DATASETS = """
import json, sys, datasets
found = {}
for name in sys.argv[2:]:
    split = datasets.load_dataset(sys.argv[1], name)["test"]
    found[name] = {"rows": split.num_rows, "columns": split.column_names, "first": split[0]}
found["default"] = datasets.load_dataset(sys.argv[1])["test"].column_names
print(json.dumps(found))
"""

INSPECT = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
found = []
for info in list_eval_logs(sys.argv[1], descending=False):
    log = read_eval_log(info)
    last = log.samples[-1]
    found.append({
        "task": log.eval.task, "model": log.eval.model, "status": log.status, "tags": log.eval.tags,
        "samples": [[each.id, each.epoch] for each in log.samples],
        "summaries": len(read_eval_log_sample_summaries(info)),
        "scores": {each.name: each.metrics["accuracy"].value for each in log.results.scores},
        "usage": {name: each.model_dump() for name, each in log.stats.model_usage.items()},
        "last": read_eval_log_sample(info, id=last.id, epoch=last.epoch).model_dump(mode="json"),
    })
print(json.dumps(found))
"""


def _exported(run: Path, to: str, out: Path) -> Path:
    assert main(["export", str(run), "--to", to, "--out", str(out)]) == 0
    return out


@pytest.mark.real("datasets")
def test_datasets_loads_the_folder(memory_run: Path, tmp_path: Path, read_apart: Reader) -> None:
    folder = _exported(memory_run, "huggingface", tmp_path / "folder")
    found = read_apart("datasets", DATASETS, str(folder), "turns", "dialogues")
    assert (found["turns"]["rows"], found["dialogues"]["rows"]) == (42, 33)
    assert found["default"] == found["turns"]["columns"]
    first = found["turns"]["first"]
    assert first["marks"] == ["SIMULATED", "SYNTHETIC"]
    assert [each["role"] for each in first["messages"]] == ["system", "user"]


def test_the_card_says_what_no_reader_may_miss(memory_run: Path, tmp_path: Path) -> None:
    card = (_exported(memory_run, "huggingface", tmp_path / "folder") / "README.md").read_text()
    for needed in ("> **SIMULATED**", "> **SYNTHETIC**", "license: other", "licences", "sim/reader-forgetful"):
        assert needed in card


@pytest.mark.real("inspect_ai")
def test_inspects_own_reader_loads_the_turns(memory_run: Path, tmp_path: Path, read_apart: Reader) -> None:
    (log,) = read_apart("inspect_ai", INSPECT, str(_exported(memory_run, "inspect", tmp_path / "logs")))
    assert (log["task"], log["model"], log["status"]) == ("enterprisemem-B", "sim/reader-forgetful", "success")
    assert log["tags"][:2] == ["SIMULATED", "SYNTHETIC"]
    assert len(log["samples"]) == log["summaries"] == 42
    assert log["samples"][0] == ["NW-1-001:1", 1]
    assert 0 < log["scores"]["execution_accuracy"] < 1
    last = log["last"]
    assert [each["role"] for each in last["messages"]] == ["system", "user", "assistant"]
    assert last["target"].startswith("SELECT")
    assert last["scores"]["execution_accuracy"]["answer"] == last["output"]["completion"].strip()
    assert last["model_usage"]["sim/reader-forgetful"]["output_tokens"] > 0
    assert last["started_at"] <= last["completed_at"]


@pytest.mark.real("inspect_ai")
def test_inspects_own_reader_loads_the_dialogues(drift_run: Path, tmp_path: Path, read_apart: Reader) -> None:
    logs = read_apart("inspect_ai", INSPECT, str(_exported(drift_run, "inspect", tmp_path / "logs")))
    assert {log["task"]: log["summaries"] for log in logs} == {"tide-f": 6, "tide-p": 4}
    full = next(log for log in logs if log["task"] == "tide-f")
    assert next(iter(full["scores"])) == "DEA"
    assert full["scores"]["DRR"] == 0.0
    assert len(full["last"]["target"]) == 2
    assert full["last"]["messages"][-1]["role"] == "assistant"
    assert set(full["usage"]) == {"sim/tide-keeps-retracted", "sim/tide-user"}


@pytest.mark.real("inspect_ai")
def test_logs_of_equal_journals_have_equal_bytes_and_incomplete_ones_say_so(tmp_path: Path, read_apart: Reader) -> None:
    run = write(tmp_path / "run", Sweep(talks=[Talk(name="NW-2", turns=4)]), dropped=3)
    folders = [_exported(run, "inspect", tmp_path / name) for name in ("one", "two")]
    written = [sorted((path.name, path.read_bytes()) for path in folder.iterdir()) for folder in folders]
    assert written[0] == written[1]
    logs = read_apart("inspect_ai", INSPECT, str(folders[0]))
    assert {log["status"] for log in logs} == {"cancelled"}
    assert sorted(len(log["samples"]) for log in logs) == [3, 4]


@pytest.mark.parametrize("to", ["inspect", "parquet", "csv"])
def test_labels_that_are_spelled_alike_in_file_names_stay_apart(to: str, tmp_path: Path) -> None:
    run = write(tmp_path / "run", Sweep(talks=[Talk(name="NW-1")], models=("sim/a b", "sim/a:b"), conditions=("A",)))
    assert len(list(_exported(run, to, tmp_path / "out").iterdir())) == 2

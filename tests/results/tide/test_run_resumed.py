"""A run with a model in the user's place that is killed without warning and resumed: reported, compared and audited."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.engine.cli import main
from turntide.engine.folder.manifest import Manifest
from turntide.engine.journal import scan
from turntide.results.tide.audit.content import Point, Said
from turntide.results.tide.audit.opening import Request, opened

from ...support.cases import FIXTURES
from .conftest import report_of

TURNTIDE = [sys.executable, "-m", "turntide.engine.cli"]
RUN = [
    "run", "tide", "--model", "sim/tide-perfect", "--model", "sim/tide-asks-second-first", "--user-model",
    "sim/tide-user", "--limit", "3", "--concurrency", "4", "--sql-workers", "1",
]  # fmt: skip


def _killed(folder: Path, words: list[str], answers: int) -> None:
    """Start a run and kill it as soon as it has that many answers."""
    process = subprocess.Popen([*TURNTIDE, *words], cwd=folder, stdout=-1, stderr=-1)
    journal = folder / "run" / "journal.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b'"k":"answer"') >= answers:
            break
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One run that was killed on the way and resumed, and one that was not."""
    folder = tmp_path_factory.mktemp("tide")
    _killed(folder, [*RUN, "--out", "run"], 40)
    for name in ("run", "calm"):
        assert main([*RUN, "--out", str(folder / name)]) == 0
    return folder / "run", folder / "calm"


def test_a_killed_and_resumed_run_reports_what_a_calm_one_does(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    broken, calm = (report_of(folder, capsys) for folder in runs)
    assert broken == calm
    tables = {table["key"]: table for table in json.loads(calm)["report"]["tables"]}
    first = dict(zip(tables["dea"]["columns"], tables["dea"]["rows"][0], strict=True))
    assert first["model"] == "sim/tide-perfect"
    assert {cell["value"] for cell in tables["dea"]["rows"][0][1:] if cell["scored"]} == {100.0}


def test_every_dialogue_ended_once_and_no_answer_was_paid_twice(runs: tuple[Path, Path]) -> None:
    lines = list(scan(runs[0] / "journal.jsonl"))
    ends = [line["u"] for line in lines if line["k"] == "end"]
    assert len(ends) == len(set(ends)) == 30
    records = [line["u"] for line in lines if line["k"] == "record"]
    assert sorted(records) == sorted(ends)
    places = [(line["u"], line["s"]) for line in lines if line["k"] == "answer"]
    assert len(places) == len(set(places))


def test_the_users_model_is_part_of_the_identity_and_of_the_bill(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    identity = Manifest.load(runs[1]).identity
    assert identity["auxiliary"] == [{"label": "user", "id": "sim/tide-user", "options": {}}]
    tables = {table["key"]: table for table in json.loads(report_of(runs[1], capsys))["report"]["tables"]}
    assert {row[0] for row in tables["cost"]["rows"]} == {"sim/tide-perfect", "sim/tide-asks-second-first", "user"}
    assert [row[0] for row in tables["models"]["rows"]][-1] == "user"
    assert sum(row[9] for row in tables["router"]["rows"]) == 0


@pytest.mark.parametrize(
    ("words", "instead"), [(["DRR"], "f/drift, f/joint"), (["AR", "--baseline", "p/chain"], "f/c")]
)
def test_a_metric_without_values_on_the_baseline_is_a_sentence_that_says_where_it_has_some(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str], words: list[str], instead: str
) -> None:
    assert main(["compare", str(runs[1]), "--by", "part", "--metric", *words]) == 2
    assert f"{words[0]} has no values on both {words[-1] if words[1:] else 'f/chain'} and" in (
        err := capsys.readouterr().err
    )
    assert f"it has some on {instead}" in err
    assert "--baseline f/" in err


@pytest.mark.parametrize(
    ("baseline", "others"),
    [
        ("f/chain", {"f/drift", "f/joint", "p/chain"}),
        ("f/drift", {"f/chain", "f/joint"}),
        ("p/joint", {"f/joint", "p/chain"}),
    ],
)
def test_sets_are_compared_triplet_by_triplet_and_protocols_sample_by_sample(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str], baseline: str, others: set[str]
) -> None:
    words = ["--by", "part", "--baseline", baseline, "--fail-if-worse=100", "--json"]
    assert main(["compare", str(runs[1]), *words]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    assert "INCOMPLETE" not in report["marks"]
    rows = report["tables"][0]["rows"]
    assert {row[0] for row in rows} == others
    assert {(row[2], row[3], row[6]["planned"]) for row in rows} == {("DEA", 3, 3)}


def test_another_user_is_another_run(runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for word in RUN if word not in ("--user-model", "sim/tide-user")]
    assert main([*words, "--out", str(runs[1])]) == 2
    assert "auxiliary" in capsys.readouterr().err


def test_a_run_is_scored_again_from_its_answers_and_its_report_stays(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = json.loads(report_of(runs[1], capsys))["report"]
    assert main(["rescore", str(runs[1])]) == 0
    assert "30 records of 30 dialogues, without a call" in capsys.readouterr().out
    after = json.loads(report_of(runs[1], capsys))["report"]
    assert after["facts"].pop("scoring") == ["number 1 of `rescore`, data as in the run"]
    assert after == before


def test_router_decisions_of_a_run_are_put_before_annotators_as_the_router_saw_them(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    asked = {
        f"{line['u']} turn {each['turn']}": each
        for line in scan(runs[1] / "journal.jsonl")
        if line["k"] == "record"
        for each in line["fields"].get("asked", ())
    }
    count = len(asked) - 3
    with opened(tmp_path / "audit.sqlite", Request(runs=[runs[1]], count=count, calibration=3), ["ana"]) as store:
        plan, tasks = store.plan, store.tasks
    assert (plan.subject, plan.router, plan.simulated, plan.synthetic) == ("decisions", "sim/tide-user", True, True)
    assert [task.calibration for task in tasks] == [True] * 3 + [False] * count
    assert {task.id.partition(" ")[2] for task in tasks} == asked.keys()
    for task in tasks:
        exchange = asked[task.id.partition(" ")[2]]
        said = [part for part in task.parts if isinstance(part, Said)]
        points = {part.label: part.state for part in task.parts if isinstance(part, Point)}
        assert [part.judged for part in said] == [False] * (len(said) - 1) + [True]
        assert said[-1].text == exchange["question"]
        assert exchange["reply"] not in [part.text for part in said]
        assert task.router == exchange["decided"]
        assert [choice.value for choice in task.items[0].choices] == [*points, "Loc", "Una"]
        if "/p/" in task.id:
            assert (said[1].by, points["L1"]) == ("assistant", "answered")


def test_an_audit_of_a_run_needs_the_triplets_that_it_talked_through(runs: tuple[Path, Path], tmp_path: Path) -> None:
    other = FIXTURES / "tide" / "dialogues.json"
    with pytest.raises(ConfigurationError, match="talked other triplets through than"):
        opened(tmp_path / "audit.sqlite", Request(runs=[runs[0]], samples=other), ["ana"])
    assert not (tmp_path / "audit.sqlite").exists()

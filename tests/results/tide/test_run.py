"""A whole run through the command line: a model in the user's place, killed without warning, resumed, and reported."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated import SimulatedServer
from turntide.datasets.tide.simulator.probes import probes
from turntide.engine.cli import main
from turntide.engine.folder.manifest import Manifest
from turntide.engine.journal import scan
from turntide.results.table import Rate
from turntide.results.tide.audit.content import Point, Said
from turntide.results.tide.audit.opening import Request, opened
from turntide.results.tide.simulator import FAULT, Decisions, tables

from ...support.cases import FIXTURES

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


def _report(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["report", str(folder), "--json"]) == 0
    return capsys.readouterr().out


def test_a_killed_and_resumed_run_reports_what_a_calm_one_does(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    broken, calm = (_report(folder, capsys) for folder in runs)
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
    tables = {table["key"]: table for table in json.loads(_report(runs[1], capsys))["report"]["tables"]}
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


def test_what_a_limit_cuts_off_is_not_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "tide", "--model", "sim/tide-perfect", "--sql-workers", "1", "--protocol", "f"]
    assert main([*words, "--limit", "4", "--out", str(tmp_path / "cut")]) == 0  # the fourth is a chain without a drift
    assert main(["compare", str(tmp_path / "cut"), "--by", "part", "--fail-if-worse=100"]) == 0
    assert "INCOMPLETE" not in capsys.readouterr().out


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
    marks = json.loads(_report(tmp_path / "run", capsys))["report"]["marks"]
    assert marks["INCOMPLETE"].startswith("1 of 5 dialogues are scored, 4 of the others ended by a fault")


def test_another_user_is_another_run(runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for word in RUN if word not in ("--user-model", "sim/tide-user")]
    assert main([*words, "--out", str(runs[1])]) == 2
    assert "auxiliary" in capsys.readouterr().err


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
    assert json.loads(_report(tmp_path / "run", capsys))["report"]["marks"]["SIMULATED"].startswith("the models")


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
    try:
        code = main(words)
    except SystemExit as ended:
        code = ended.code
    shown = capsys.readouterr()
    assert code == 2
    assert said in shown.err + shown.out


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


def test_a_run_is_scored_again_from_its_answers_and_its_report_stays(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = json.loads(_report(runs[1], capsys))["report"]
    assert main(["rescore", str(runs[1])]) == 0
    assert "30 records of 30 dialogues, without a call" in capsys.readouterr().out
    after = json.loads(_report(runs[1], capsys))["report"]
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

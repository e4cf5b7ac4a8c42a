"""Construction from the command line: killed at every stage, resumed, reported, assembled, and run as a benchmark."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.simulated.config import Config, ModelConfig
from turntide.adapters.simulated.process import SimulatedServer
from turntide.engine.cli import main
from turntide.engine.journal import scan

from ...support.cases import FIXTURES

TURNTIDE = [sys.executable, "-m", "turntide.engine.cli"]
ANCHORS = 3
QUESTIONS = FIXTURES / "tide" / "build_questions.json"
MODELS = [
    "--model", "sim/tide-generator", "--judge", "sim/tide-judge", "--judge", "sim/tide-judge?rejects=0", "--rewriter",
    "sim/tide-rewriter", "--tester", "sim/tide-tester",
]  # fmt: skip
STAGES = ("tide-judge", "tide-rewriter", "tide-generator", "tide-judge")
"""Who never answers, in one part of the run after another: at chains, evidence, drifts, and the judging of drifts."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small shop and its anchors."""
    import sqlite3
    from contextlib import closing

    folder = tmp_path_factory.mktemp("build")
    with closing(sqlite3.connect(folder / "shop.sqlite")) as connection:
        for script in ("schema.sql", "rows.sql"):
            connection.executescript((FIXTURES / "tide" / script).read_text(encoding="utf-8"))
    questions = json.loads(QUESTIONS.read_text())[1:]  # the first one's drifts come to nothing too easily
    (folder / "dev.json").write_text(json.dumps(questions))
    words = ["tide-build", "anchors", "--questions", str(folder / "dev.json"), "--data", str(folder)]
    assert main([*words, "--out", str(folder / "anchors.json")]) == 0
    return folder


def words_of(place: Path, *more: str, out: str) -> list[str]:
    anchors = ["--anchors", str(place / "anchors.json"), "--data", str(place)]
    return ["run", "tide-build", *anchors, "--sql-workers", "1", *more, "--out", str(place / out)]


def _killed(place: Path, silent: str) -> int:
    """Go on with the run until every anchor waits for the model that never answers, and kill it.

    Return how many answers its server made.
    """
    models = {silent: ModelConfig(reader=silent, latency=120.0)}
    with SimulatedServer.start(Config(models=models)) as server:
        process = _started(place, server)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None and _count(server, "in_flight", "now") < ANCHORS:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        said = process.communicate()
        assert process.returncode == -signal.SIGKILL, said
        return _count(server, "answered")


def _started(place: Path, server: SimulatedServer) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "TURNTIDE_SIM_BASE_URL": server.base_url}
    words = [*TURNTIDE, *words_of(place, *MODELS, out="broken")]
    return subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _count(server: SimulatedServer, *names: str) -> int:
    """Return a number of the server's `/stats`."""
    found: Any = server.stats()
    for name in names:
        found = found[name]
    return found


@pytest.fixture(scope="module")
def runs(place: Path) -> tuple[Path, int]:
    """A run that was killed at every stage, and how many answers its providers made."""
    answered = sum(_killed(place, silent) for silent in STAGES)
    with SimulatedServer.start() as server:
        process = _started(place, server)
        said = process.communicate()
        assert process.returncode == 0, said
        answered += _count(server, "answered")
    return place, answered


@pytest.fixture(scope="module")
def calm(place: Path) -> Path:
    """The folder with a run that nothing disturbed, in `calm`."""
    assert main(words_of(place, *MODELS, out="calm")) == 0
    return place


def test_a_construction_killed_at_every_stage_pays_nothing_twice(runs: tuple[Path, int]) -> None:
    place, answered = runs
    lines = list(scan(place / "broken" / "journal.jsonl"))
    answers = [(line["u"], line["s"]) for line in lines if line["k"] == "answer"]
    assert len(answers) == len(set(answers)) == answered
    sends = sum(line["k"] == "sent" for line in lines)
    assert sends == answered + len(STAGES) * ANCHORS
    ends = [line["u"] for line in lines if line["k"] == "end"]
    assert len(ends) == len(set(ends)) == ANCHORS


def test_it_reports_and_assembles_the_same_bytes_as_a_calm_one(
    runs: tuple[Path, int], calm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, said = runs[0], dict[str, str]()
    for name in ("broken", "calm"):
        assert main(["report", str(place / name), "--json"]) == 0
        said[name] = capsys.readouterr().out
        assert main(["tide-build", "assemble", str(place / name), "--out", str(place / f"{name}.json")]) == 0
        capsys.readouterr()
    assert said["broken"] == said["calm"]
    assert (place / "broken.json").read_bytes() == (place / "calm.json").read_bytes()


def test_provenance_names_calls_that_the_journal_has(calm: Path) -> None:
    answers = {(line["u"], line["s"]) for line in scan(calm / "calm" / "journal.jsonl") if line["k"] == "answer"}
    records = [line["fields"] for line in scan(calm / "calm" / "journal.jsonl") if line["k"] == "record"]
    named = [
        (f"{record['model']}/{record['anchor']}/{record.get('repeat', 0)}", step)
        for record in records
        for stage in record["stages"].values()
        for attempt in stage["attempts"]
        for step in (attempt.get("step"), *(vote["step"] for vote in attempt.get("votes", ())))
        if step is not None
    ]
    assert len(named) > 20
    assert set(named) <= answers


def _tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, list[list[Any]]]:
    assert main(["report", str(folder), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    return {table["key"]: table["rows"] for table in report["tables"]}


def assert_adds_up(tables: dict[str, list[list[Any]]], anchors: int) -> int:
    """Check that every anchor is in one place of the funnel; return the number of triplets."""
    entered = {row[0]: row[2] for row in tables["funnel"]}
    kept = {row[0]: row[4] for row in tables["funnel"]}
    assert entered["chain rules"] == entered["chain"] == entered["triplets"] == anchors
    assert entered["chain judges"] == kept["chain rules"]
    assert kept["chain judges"] == kept["chain"] == entered["evidence"]
    assert entered["drift checks"] == kept["evidence"]
    assert entered["drift judges"] == kept["drift checks"]
    assert kept["triplets"] == kept["drift judges"]
    assert tables["dropped"][-1][2] + kept["triplets"] == anchors
    assert sum(row[2] for row in tables["dropped"][:-1]) == tables["dropped"][-1][2]
    assert sum(row[2] for row in tables["composition"] if row[0] == "subtype") == kept["triplets"]
    return kept["triplets"]


def test_on_birds_questions_the_funnel_adds_up_and_what_is_left_is_a_benchmark(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With models that make every kind of mistake; what comes out passes every check and runs."""
    bird = shared_data / "bird"
    few = [each for each in json.loads((bird / "dev.json").read_text()) if each["db_id"] == "superhero"][::6]
    (tmp_path / "dev.json").write_text(json.dumps(few))
    data = ["--data", str(bird)]
    anchors = ["tide-build", "anchors", "--questions", str(tmp_path / "dev.json"), *data, "--count", "12", "--json"]
    assert main([*anchors, "--out", str(tmp_path / "anchors.json")]) == 0
    drawn = json.loads(capsys.readouterr().out)["drawn"]
    words = [
        "run", "tide-build", "--anchors", str(tmp_path / "anchors.json"), *data, "--attempts", "2", "--model",
        "sim/tide-generator?invariant=0.2&wrong_subtype=0.2&unchanged=0.1&syntax=0.1", "--judge",
        "sim/tide-judge?rejects=0.1", "--judge", "sim/tide-judge?rejects=0.1&preamble=0.1", "--sql-workers", "1",
    ]  # fmt: skip
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    tables = _tables(tmp_path / "run", capsys)
    left = assert_adds_up(tables, drawn)
    assert 0 < left < drawn
    signals = {row[1] for row in tables["attempts"]}
    assert {"passed", "json_format", "subtype_mismatch"} <= signals
    assert all(row[2] and 0 < row[3]["value"] <= 100 for row in tables["agreement"])
    samples = str(tmp_path / "triplets.json.gz")
    assert main(["tide-build", "assemble", str(tmp_path / "run"), "--out", samples]) == 0
    assert main(["data", "check", "tide", "--samples", samples, *data, "--json"]) == 0
    capsys.readouterr()
    run = ["run", "tide", "--samples", samples, *data, "--model", "sim/tide-perfect", "--limit", "2"]
    assert main([*run, "--sql-workers", "1", "--out", str(tmp_path / "tide")]) == 0
    capsys.readouterr()
    assert main(["report", str(tmp_path / "tide"), "--json"]) == 0
    warnings = json.loads(capsys.readouterr().out)["report"]["warnings"]
    assert any("No action came from sim/tide-perfect in any dialogue" in warning for warning in warnings)


def test_a_construction_is_scored_again_to_the_same_triplets(
    calm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(calm / "calm", tmp_path / "run")
    assert main(["rescore", str(folder)]) == 0
    assert f"{ANCHORS} records" in capsys.readouterr().out
    for name, place in (("before", calm / "calm"), ("after", folder)):
        assert main(["tide-build", "assemble", str(place), "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_without_any_model_no_model_need_be_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words_of(place, "--chain", "none", "--drift", "tree", out="tree")) == 0
    capsys.readouterr()
    assert main(["report", str(place / "tree")]) == 0
    said = capsys.readouterr().out
    assert "SIMULATED" not in said
    assert "UNJUDGED" in said
    assert "model" not in next(line for line in said.splitlines() if "evidence" in line and "pieces" in line)
    tables = _tables(place / "tree", capsys)
    shares = {row[0]: (row[5], row[7]) for row in tables["funnel"]}
    undecided = {name for name, found in shares.items() if found == (None, None)}
    assert undecided == {"chain rules", "chain judges", "chain", "evidence", "drift judges"}
    assert shares["triplets"][1] is None, "the paper's judges decided on its 514 of 830"
    assert assert_adds_up(tables, ANCHORS) == ANCHORS
    assert tables["cost"] == []


def test_a_report_warns_when_the_databases_are_not_those_of_the_anchors(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import sqlite3
    from contextlib import closing

    shutil.copy(place / "shop.sqlite", tmp_path / "shop.sqlite")
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection, connection:
        connection.execute("UPDATE person SET age = age + 1")
    words = ["--chain", "none", "--drift", "tree", "--data", str(tmp_path)]
    assert main(words_of(place, *words, out="moved")) == 0
    capsys.readouterr()
    assert main(["report", str(place / "moved")]) == 0
    assert "warning: The anchors were selected on other files of shop" in capsys.readouterr().out


def test_a_dry_run_counts_one_call_for_each_piece_and_judge(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words_of(place, *MODELS, out="dry"), "--dry-run", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert sorted(each["calls"] for each in models.values()) == [3, 6, 6, 6, 9]
    assert not (place / "dry").exists()


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
    tables = _tables(place / "designed", capsys)
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

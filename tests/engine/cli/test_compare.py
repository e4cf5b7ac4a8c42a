"""`turntide compare` and `turntide rescore`, as a user meets them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from turntide.datasets import synthetic
from turntide.datasets.enterprisemem import scoring
from turntide.datasets.enterprisemem.embedded import embedded_sessions
from turntide.engine.cli import main
from turntide.engine.folder.manifest import Manifest
from turntide.engine.journal import scan
from turntide.engine.sql.comparison import COMPARISONS
from turntide.engine.sql.outcome import Outcome
from turntide.engine.system.cache import cache_folder

from tests.support.sweeps import Sweep, Talk, write

HOLDER = Path(__file__).parents[2] / "support" / "lock_holder.py"
TALKS = [Talk(name=f"NW-{place:02}", turns=4) for place in range(12)]
SWEEP = Sweep(talks=TALKS, models=("sim/one", "sim/two"), conditions=("A", "B"))


def worse(model: str, condition: str, talk: Talk, turn: int) -> Mapping[str, Any]:
    return {"category": "wrong_result" if condition == "B" and turn > 2 else "correct"}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write(tmp_path / "good", SWEEP)


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return write(tmp_path / "bad", replace(SWEEP, told=worse))


def turntide(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


class TestCompare:
    def test_runs_are_compared_cell_by_cell(self, good: Path, bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = turntide(capsys, "compare", good, bad, "--json")
        report = json.loads(out)["report"]
        (differences, *_) = report["tables"]
        found = {row[1]: row[6]["points"] for row in differences["rows"]}
        assert found == {"sim/one A": 0, "sim/one B": -50, "sim/two A": 0, "sim/two B": -50}
        assert "SIMULATED" in report["marks"]
        assert code == 0

    @pytest.mark.parametrize(("limit", "code"), [([], 5), (["49"], 5), (["50"], 0)])
    def test_worse_by_more_than_the_limit_is_an_exit_code_for_ci(
        self, good: Path, bad: Path, capsys: pytest.CaptureFixture[str], limit: list[str], code: int
    ) -> None:
        found, _, err = turntide(capsys, "compare", good, bad, "--fail-if-worse", *limit)
        assert found == code
        assert ("worse: " in err) == bool(code)
        assert turntide(capsys, "compare", bad, good, "--fail-if-worse", *limit)[0] == 0

    def test_a_run_that_lacks_turns_does_not_pass(
        self, tmp_path: Path, good: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        part = write(tmp_path / "part", SWEEP, dropped=30)
        code, out, err = turntide(capsys, "compare", good, part, "--fail-if-worse")
        assert code == 3
        assert "INCOMPLETE" in out
        assert "first table" not in out
        assert "incomplete" in err

    def test_what_the_new_run_never_planned_is_named_and_does_not_pass(
        self, tmp_path: Path, good: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fewer = write(tmp_path / "fewer", replace(SWEEP, models=("sim/one",), talks=TALKS[:5]))
        code, out, err = turntide(capsys, "compare", good, fewer, "--fail-if-worse")
        assert code == 3
        assert f"warning: not compared: sim/two B (not planned by {fewer})" in out
        assert "INCOMPLETE: 56 planned pairs are not scored on both sides" in out
        assert "incomplete: 4 comparisons lack pairs" in err

    def test_of_one_run_its_models_are_compared_or_its_conditions(
        self, bad: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert turntide(capsys, "compare", bad)[1].startswith("sim/two compared with sim/one\n")
        assert turntide(capsys, "compare", bad, "--by", "part")[1].startswith("B compared with A\n")

    def test_a_metric_or_baseline_that_is_not_there_is_named(
        self, good: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert "there is no metric 'F1'; there are EX, EX-multiset" in turntide(
            capsys, "compare", good, "--metric", "F1"
        )[2]  # fmt: skip
        code, _, err = turntide(capsys, "compare", good, "--baseline", "gpt")
        assert (code, "there is no 'gpt' to compare with" in err) == (2, True)

    def test_what_else_differs_between_the_runs_is_a_warning_and_other_content_an_error(
        self, tmp_path: Path, good: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        prompts = write(tmp_path / "prompts", replace(SWEEP, identity={"prompts_sha256": "0" * 64}))
        assert "warning: " in turntide(capsys, "compare", good, prompts)[1]
        talks = [replace(talk, cluster="another") for talk in TALKS]
        code, _, err = turntide(capsys, "compare", good, write(tmp_path / "other", replace(SWEEP, talks=talks)))
        assert (code, "have the same name and other content" in err) == (2, True)

    def test_a_limit_below_zero_is_refused(self, good: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as caught:
            turntide(capsys, "compare", good, "--fail-if-worse=-1")
        assert caught.value.code == 2


def nothing_agrees(gold: Outcome, predicted: Outcome) -> dict[str, bool]:
    return dict.fromkeys(COMPARISONS, False)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run of a few sessions at B."""
    out = tmp_path_factory.mktemp("rescore") / "run"
    words = ["run", "enterprisemem", "--model", "sim/reader-good", "--condition", "B", "--limit", "34"]
    assert main([*words, "--out", str(out)]) == 0
    return out


class TestRescore:
    def test_what_did_not_change_scores_the_same_and_the_report_has_the_same_bytes(
        self, real: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = turntide(capsys, "report", real, "--scoring", "0", "--table", "ex_by_source", "--json")[1]
        journal = (real / "journal.jsonl").read_bytes()
        code, out, _ = turntide(capsys, "rescore", real)
        assert code == 0
        assert "records of 34 dialogues, without a call" in out
        assert "Outcomes that changed" not in out
        tables = [
            json.loads(text)["report"]["tables"]
            for text in (before, turntide(capsys, "report", real, "--table", "ex_by_source", "--json")[1])
        ]
        assert tables[0] == tables[1]
        assert (real / "journal.jsonl").read_bytes() == journal

    def test_a_changed_comparison_shows_per_metric_and_turn_and_the_runs_own_scoring_stays(
        self, real: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = turntide(capsys, "report", real, "--scoring", "0", "--json")[1]
        monkeypatch.setattr(scoring, "compare", nothing_agrees)
        out = json.loads(turntide(capsys, "rescore", real, "--json")[1])["report"]
        tables = {table["key"]: table["rows"] for table in out["tables"]}
        ((_, metric, n, before, after, gained, lost), *_) = tables["changes"]
        assert (metric, after, gained) == ("EX", 0, 0)
        assert before == lost == sum(row[3:5] == ["EX", "lost"] for row in tables["flips"]) <= n
        assert ["all", "correct", "wrong_result", before] in tables["outcomes"]
        assert turntide(capsys, "report", real, "--scoring", "0", "--json")[1] == own
        assert turntide(capsys, "report", real, "--json")[1] != own

    def test_repaired_gold_shows_what_it_changed(
        self, real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = shutil.copytree(real, tmp_path / "run", ignore=shutil.ignore_patterns("scorings"))
        sessions = json.loads(embedded_sessions().read_bytes())
        sessions[0]["turns"][0]["ground_truth_sql"] = "SELECT 1"
        (tmp_path / "fixed.json").write_text(json.dumps(sessions))
        northwind = f"northwind={synthetic.ensure('northwind', cache_folder())}"
        code, out, _ = turntide(
            capsys, "rescore", folder, "--sessions", tmp_path / "fixed.json", "--database", northwind, "--json"
        )
        assert code == 0
        tables = {table["key"]: table["rows"] for table in json.loads(out)["report"]["tables"]}
        ((_, metric, _, before, after, gained, lost), *_) = tables["changes"]
        assert (metric, before - after, gained, lost) == ("EX", 1, 0, 1)

    def test_a_run_of_other_data_is_refused_and_leaves_no_scoring(
        self, real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / "journal.jsonl").write_bytes((real / "journal.jsonl").read_bytes())
        held = Manifest.load(real)
        spec = {**held.settings["spec"], "limit": 3}
        replace(held, settings={"spec": spec}).save(folder)
        code, _, err = turntide(capsys, "rescore", folder)
        assert code == 2
        assert "31 dialogues of the run are none of this benchmark" in err
        assert not (folder / "scorings").exists()
        assert sum(line["k"] == "end" for line in scan(folder / "journal.jsonl")) == 34

    def test_a_folder_that_cannot_be_written_is_a_plain_error(
        self, real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = shutil.copytree(real, tmp_path / "run", ignore=shutil.ignore_patterns("scorings"))
        (folder / "scorings").write_text("no folder")
        code, out, err = turntide(capsys, "rescore", folder)
        assert (code, out) == (2, "")
        assert f"{folder} cannot be written (File exists): a scoring is a file in the run's folder" in err

    def test_a_run_that_is_going_on_is_scored_as_far_as_it_is_and_says_so(
        self, real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = shutil.copytree(real, tmp_path / "run", ignore=shutil.ignore_patterns("scorings"))
        command = [sys.executable, str(HOLDER), str(folder)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout
            assert process.stdout.readline()
            found = json.loads(turntide(capsys, "rescore", folder, "--json")[1])["report"]["facts"]
        assert "what was there is scored; score again when it has ended" in found["running"]
        assert f"process {process.pid}" in found["running"]

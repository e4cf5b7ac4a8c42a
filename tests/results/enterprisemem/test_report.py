"""The report as a whole: its header, its bytes, and what it says of runs that are not complete."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.adapters.base import ConfigurationError
from turntide.engine.folder.parts import began, ended
from turntide.engine.journal import Journal
from turntide.results.csvfile import csv_text
from turntide.results.enterprisemem.report import report
from turntide.results.reading import open_run
from turntide.results.table import Number, Rate
from turntide.results.text import report_text

from tests.support.sweeps import Sweep, begin, released, write

GOLDEN = Path(__file__).parents[2] / "fixtures" / "reports" / "enterprisemem.txt"


def text(*folders: Path) -> str:
    return report_text(report([open_run(folder) for folder in folders]))


def test_the_small_report_is_the_golden_one(tmp_path: Path, all_conditions: Sweep) -> None:
    found = text(write(tmp_path, all_conditions))
    if os.environ.get("TURNTIDE_WRITE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_answers_came_leaves_no_trace(tmp_path: Path, sweep: Sweep, seed: int) -> None:
    plain, shuffled = write(tmp_path / "a", sweep), write(tmp_path / "b", sweep, shuffled=seed)
    assert text(plain) == text(shuffled)
    assert json.dumps(report([open_run(plain)]).to_json()) == json.dumps(report([open_run(shuffled)]).to_json())


def test_an_interrupted_and_resumed_run_reports_the_same_bytes(tmp_path: Path, sweep: Sweep) -> None:
    whole, parts = write(tmp_path / "whole", sweep), write(tmp_path / "parts", sweep, dropped=40)
    lines = [line for unit in sweep.units() for line in sweep.lines(unit)]
    for first, last in ((40, 20), (20, 0)):
        with Journal.open(parts / "journal.jsonl") as journal:
            journal.append(began({"sim/one": 8, "sim/two": 8}))
            for line in lines[len(lines) - first : len(lines) - last]:
                journal.append(line)
            journal.append(ended("interrupted", ["Ctrl-C"]))
    assert text(parts) == text(whole)


@settings(max_examples=20, deadline=None)
@given(dropped=st.integers(1, 150))
def test_what_is_missing_widens_the_bounds_and_is_never_a_wrong_answer(
    dropped: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sweep = Sweep(talks=released().talks[25:35])
    found = report([open_run(write(tmp_path_factory.mktemp("run"), sweep, dropped=dropped, shuffled=dropped))])
    (_, _, scored, planned, rate, worst, best), *cells = found.tables[0].rows
    assert isinstance(rate, Rate)
    assert isinstance(scored, int)
    assert isinstance(planned, int)
    assert rate.hits == rate.scored == scored
    assert isinstance(worst, Number)
    assert (worst.value, best) == (pytest.approx(100 * scored / planned), Number(100))
    assert ("INCOMPLETE" in found.marks) == (scored < planned) == bool(cells)


def test_an_incomplete_report_says_so_and_every_rate_stands_beside_its_count(tmp_path: Path, sweep: Sweep) -> None:
    found = text(write(tmp_path, sweep, dropped=9))  # two turns of the last dialogue, and its end
    assert "INCOMPLETE: 50 of 52 turns are scored; `report --table completeness` has the bounds" in found
    assert [line.split()[-1] for line in found.splitlines() if line.startswith(" sim/two")][2] == "(11/13)"


def test_programs_get_a_rate_in_the_unit_of_its_bounds(tmp_path: Path, sweep: Sweep) -> None:
    table = report([open_run(write(tmp_path, sweep, dropped=9))]).tables[0]
    for row in csv.DictReader(io.StringIO(csv_text(table))):
        worst, rate, best = (float(row[name]) for name in ("if all missing fail", "EX%", "if all missing succeed"))
        assert worst - 1e-3 <= rate <= best + 1e-3
        assert 1 < rate <= float(row["EX% high"]) <= 100


def test_a_report_names_what_was_run(tmp_path: Path, sweep: Sweep) -> None:
    found = report([open_run(write(tmp_path, replace(sweep, options={"max_tokens": 9})))])
    assert found.title == "EnterpriseMem-Bench: 2 models × 2 conditions × 13 turns"
    assert list(found.marks) == ["SIMULATED", "SYNTHETIC"]
    assert found.facts["sessions"] == {"count": 4, "sha256": "5e55" * 16}
    assert found.facts["memory"] == {"order": "sequential", "state": "gold", "embedder": None}
    said = "no reasoning (the provider's default); temperature not sent; max_tokens 9"
    assert list(found.tables[-2].rows[0]) == ["sim/one", "sim/one", '{"max_tokens":9}', said, "one"]
    assert not found.warnings


def test_each_models_reasoning_configuration_stands_beside_its_scores(tmp_path: Path, sweep: Sweep) -> None:
    models = ("anthropic/claude-sonnet-4-6", "openai/gpt-5-mini")
    options = {"thinking": "adaptive", "reasoning_effort": "medium", "max_tokens": 16_000}
    found = report([open_run(write(tmp_path, replace(sweep, models=models, options=options)))])
    (scores,) = (table for table in found.tables if table.key == "ex_by_condition")
    thinking = "adaptive thinking, effort medium"
    assert scores.note.endswith(f"Reasoning: anthropic/claude-sonnet-4-6, openai/gpt-5-mini: {thinking}.")
    assert [row[3] for row in found.tables[-2].rows] == [f"{thinking}; temperature not sent; max_tokens 16,000"] * 2


def test_a_run_in_which_memory_can_make_no_difference_says_so(tmp_path: Path, sweep: Sweep) -> None:
    said = "no turn of this run needs an earlier one"
    assert said not in text(write(tmp_path / "long", sweep))
    single = [replace(talk, turns=1) for talk in sweep.talks]
    assert f"warning: {said}" in " ".join(text(write(tmp_path / "single", replace(sweep, talks=single))).split())


def test_results_come_before_what_they_were_got_with_and_what_they_cost(tmp_path: Path, sweep: Sweep) -> None:
    keys = [table.key for table in report([open_run(write(tmp_path, sweep))]).tables]
    assert keys[:2] == ["completeness", "ex_by_condition"]
    assert keys[-2:] == ["models", "cost"]


def test_real_models_on_real_data_carry_no_mark(tmp_path: Path, sweep: Sweep) -> None:
    real = replace(
        sweep,
        models=("openai/one", "openai/two"),
        identity={"databases": {"northwind": {"sha256": "da7a" * 16, "synthetic": False}}},
    )
    assert not report([open_run(write(tmp_path, real))]).marks


def test_a_model_whose_answers_say_so_is_simulated_whatever_its_provider_is_called(
    tmp_path: Path, sweep: Sweep
) -> None:
    mixed = replace(sweep, models=("local/one", "openai/two"), simulated=("local/one",))
    mark = report([open_run(write(tmp_path, mixed))]).marks["SIMULATED"]
    assert mark == "local/one answered by rules; the numbers say nothing about real models"


def test_a_model_that_another_one_answered_for_is_a_warning(tmp_path: Path, sweep: Sweep) -> None:
    def returned(model: str) -> str:
        return "one" if model == "sim/one" else "two-mini"

    assert report([open_run(write(tmp_path, replace(sweep, returned=returned)))]).warnings == [
        "sim/two: 26 answers came from 'two-mini', not from 'two' that was asked for"
    ]


def test_a_reply_that_names_no_model_is_no_other_models_answer(tmp_path: Path, sweep: Sweep) -> None:
    def unnamed(_: str) -> str:
        return ""

    found = report([open_run(write(tmp_path, replace(sweep, returned=unnamed)))])
    assert found.warnings == []
    (models,) = [table for table in found.tables if table.key == "models"]
    assert {row[-1] for row in models.rows} == {""}


class TestSeveralFolders:
    """Runs that make up one sweep are read as one; others are refused."""

    @pytest.fixture
    def whole(self, tmp_path: Path, sweep: Sweep) -> str:
        return text(write(tmp_path / "whole", sweep))

    def parts(self, folder: Path, *sweeps: Sweep) -> Iterator[Path]:
        return (write(folder / f"part{place}", sweep) for place, sweep in enumerate(sweeps))

    def test_other_models_on_the_same_data(self, tmp_path: Path, sweep: Sweep, whole: str) -> None:
        one, two = self.parts(tmp_path, *(replace(sweep, models=(model,)) for model in sweep.models))
        assert text(one, two) == text(two, one) == whole

    def test_other_conditions_on_the_same_data(self, tmp_path: Path, sweep: Sweep, whole: str) -> None:
        one, two = self.parts(tmp_path, *(replace(sweep, conditions=(each,)) for each in sweep.conditions))
        assert text(one, two) == text(two, one) == whole

    def test_cells_that_make_no_rectangle_are_planned_as_they_are(self, tmp_path: Path, sweep: Sweep) -> None:
        small = replace(sweep, models=("sim/two",), conditions=("A",))
        found = report(list(map(open_run, self.parts(tmp_path, replace(sweep, models=("sim/one",)), small))))
        assert "INCOMPLETE" not in found.marks
        assert [row[2:4] for row in found.tables[0].rows] == [[26, 26], [13, 13]]

    def test_shards_of_one_plan(self, tmp_path: Path, sweep: Sweep, whole: str) -> None:
        folders = [tmp_path / "shard0", tmp_path / "shard1"]
        for place, folder in enumerate(folders):
            begin(folder, sweep)
            with Journal.open(folder / "journal.jsonl") as journal:
                for unit in list(sweep.units())[place::2]:
                    for line in sweep.lines(unit):
                        journal.append(line)
        assert text(*folders) == text(*reversed(folders)) == whole

    def test_two_runs_of_one_cell_are_refused(self, tmp_path: Path, sweep: Sweep) -> None:
        with pytest.raises(ConfigurationError, match=r"part0 and .*part1 both hold the dialogue sim/one/A/NW-1/0"):
            text(*self.parts(tmp_path, sweep, sweep))

    def test_other_data_are_refused_with_the_difference(self, tmp_path: Path, sweep: Sweep) -> None:
        other = replace(sweep, models=("sim/three",), identity={"sessions_sha256": "0" * 64})
        with pytest.raises(ConfigurationError, match=r"(?s)experiment\.sessions_sha256: .*Report them apart"):
            text(*self.parts(tmp_path, sweep, other))

    def test_one_label_for_two_models_is_refused(self, tmp_path: Path, sweep: Sweep) -> None:
        other = replace(sweep, conditions=("C",), options={"temperature": 1})
        with pytest.raises(ConfigurationError, match=r"models\.sim/one\.options\.temperature: \(absent\) → 1"):
            text(*self.parts(tmp_path, sweep, other))

    def test_two_embedders_are_refused_but_none_at_all_is_not(self, tmp_path: Path, sweep: Sweep) -> None:
        first, second = ({"embedder": {"name": name}} for name in ("minilm", "lexical"))
        a, b, c = self.parts(
            tmp_path,
            sweep,
            replace(sweep, conditions=("C",), identity=first),
            replace(sweep, conditions=("D",), identity=second),
        )
        assert "embedder (name minilm)" in text(a, b)
        with pytest.raises(ConfigurationError, match=r"experiment\.embedder\.name"):
            text(a, b, c)


def test_the_quality_of_the_gold_is_what_the_run_found(tmp_path: Path, sweep: Sweep) -> None:
    folder = write(tmp_path, sweep)
    before = report([open_run(folder)])
    assert before.facts["gold"] == "not examined yet: a run does it by its end, and so does `turntide rescore`"
    finding = {"name": "NW-2:3", "database": "northwind", "found": ["order", "tie"]}
    with Journal.open(folder / "journal.jsonl") as journal:
        journal.append({"k": "gold", "examined": 20, "findings": [finding]})
    after = report([open_run(folder)])
    assert after.facts["gold"] == "20 reference statements examined, 1 with findings"
    tables = {table.key: table.rows for table in after.tables}
    assert [row[:3] for row in tables["gold_quality"]][-2:] == [["order", 1, Number(5)], ["tie", 1, Number(5)]]
    assert tables["gold_findings"] == [["northwind", "NW-2:3", "order, tie"]]


def test_a_run_without_a_scored_turn_is_refused(tmp_path: Path, sweep: Sweep) -> None:
    everything = sum(len(list(sweep.lines(unit))) for unit in sweep.units())
    with pytest.raises(ConfigurationError, match="no turn is scored yet"):
        text(write(tmp_path / "begun", sweep, dropped=everything))
    with pytest.raises(ConfigurationError, match="no turn is scored yet"):
        text(begin(tmp_path / "new", sweep))

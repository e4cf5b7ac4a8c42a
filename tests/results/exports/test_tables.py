"""Parquet and CSV: what stands in them, that both say the same, and that nothing in them bites."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.engine.cli import main
from turntide.results.enterprisemem.export import export as memory
from turntide.results.exports import parquet_files
from turntide.results.exports.csv_files import RISKY, written
from turntide.results.exports.parquet_files import arrow_schema
from turntide.results.tide.export import export as drift

from ...support.sweeps import Sweep, Talk, write

DOCUMENT = (Path(__file__).parents[3] / "docs" / "exports.md").read_text()
TALKS = [Talk(name="NW-1"), Talk(name="NW-2", turns=4)]
HOSTILE = '=HYPERLINK("http://x")\x00\n"\udcff, \u202e'


def exported(run: Path, to: str, *words: str) -> Path:
    out = run.parent / f"{run.name}-{to}{''.join(words)}"
    if not out.exists():
        assert main(["export", str(run), "--to", to, "--out", str(out), *words]) == 0
    return out


def parquet(path: Path) -> tuple[list[dict[str, Any]], Mapping[bytes, bytes]]:
    table: Any = import_module("pyarrow.parquet").read_table(path)
    return table.to_pylist(), table.schema.metadata


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("export", [memory, drift], ids=lambda export: export.title)
def test_every_column_is_documented_as_it_is_and_no_other(export: Any) -> None:
    for table in export.tables:
        assert "\n".join(table.described()) in DOCUMENT
        assert len({column.name for column in table.columns}) == len(table.columns)
    documented = DOCUMENT.partition("## Columns of ")[2].count("\n| `")
    assert documented == sum(len(table.columns) for each in (memory, drift) for table in each.tables)


@pytest.mark.parametrize("export", [memory, drift], ids=lambda export: export.title)
def test_a_parquet_file_has_the_types_and_meanings_of_the_document(export: Any) -> None:
    for table in export.tables:
        for column, field in zip(table.columns, arrow_schema(table), strict=True):
            assert str(column.type) == re.sub("list<(element|item): ", "list<", str(field.type))
            assert field.metadata[b"meaning"].decode() == column.meaning


def test_turns_come_with_their_questions_prompts_gold_and_scores(memory_run: Path) -> None:
    turns, told = parquet(exported(memory_run, "parquet") / "turns.parquet")
    assert json.loads(told[b"turntide"])["marks"].keys() >= {"SIMULATED", "SYNTHETIC"}
    assert len(turns) == 30 + 3 * 4
    for turn in turns:
        assert turn["marks"] == ["SIMULATED", "SYNTHETIC"]
        assert turn["question"] in turn["messages"][-1]["content"]
        assert turn["sql"] in turn["answer"]
        assert turn["correct"] == turn["agree_strict"] == (turn["outcome"] == "correct")
        assert (turn["answers"], turn["usd"]) == (1, 0.0)
        if turn["correct"]:
            assert json.loads(turn["result_excerpt"]) == json.loads(turn["gold_excerpt"])
    assert {turn["correct"] for turn in turns} == {True, False}


def test_sessions_count_their_turns(memory_run: Path) -> None:
    folder = exported(memory_run, "csv")
    turns, sessions = rows_of(folder / "turns.csv"), rows_of(folder / "dialogues.csv")
    assert [int(each["scored"]) for each in sessions] == [1] * 30 + [4] * 3
    for name in ("answers", "input_tokens", "correct"):
        counted = sum(turn[name] == "true" if name == "correct" else int(turn[name]) for turn in turns)
        assert sum(int(each[name]) for each in sessions) == counted


def test_queries_and_dialogues_of_tide_agree_with_each_other(drift_run: Path) -> None:
    folder = exported(drift_run, "parquet")
    dialogues, _ = parquet(folder / "dialogues.parquet")
    queries, _ = parquet(folder / "queries.parquet")
    by_key = {each["dialogue"]: [q for q in queries if q["dialogue"] == each["dialogue"]] for each in dialogues}
    assert len(dialogues) == 10
    for each in dialogues:
        own = by_key[each["dialogue"]]
        assert [query["stage"] for query in own] == list(range(len(own)))
        assert all(query["gold_sql"] for query in own)
        if each["dea"] is not None:
            assert each["dea"] == (len(own) == each["golds"] and all(query["correct"] for query in own))
        assert each["ar"] == (bool(each["asked"]) if each["protocol"] == "f" else None)
        assert each["messages"][0]["role"] == "system"
        assert each["user_answers"] == 2 * len(each["asked"])
    assert {query["step"] for query in queries if query["stage"] == 1} == {"not_drift"}


@pytest.mark.parametrize("benchmark", ["memory_run", "drift_run"])
def test_csv_says_what_parquet_says(benchmark: str, request: pytest.FixtureRequest) -> None:
    run: Path = request.getfixturevalue(benchmark)
    tables, exact = exported(run, "csv"), exported(run, "parquet")
    for path in exact.iterdir():
        rows, _ = parquet(path)
        written_too = rows_of(tables / f"{path.stem}.csv")
        told = [{name: cell.removeprefix("'") for name, cell in row.items()} for row in written_too]
        assert told == [{name: _as_text(cell) for name, cell in row.items()} for row in rows]


def _as_text(cell: object) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return str(cell).lower()
        case list():
            return json.dumps(cell, ensure_ascii=False, sort_keys=True)
        case _:
            return str(cell)


def test_without_the_data_a_run_is_exported_as_its_journal_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turns, _ = parquet(exported(write(tmp_path / "run", Sweep(talks=TALKS)), "parquet") / "turns.parquet")
    assert "exported without prompts and gold" in capsys.readouterr().err
    assert {(turn["question"], turn["messages"], turn["gold_sql"], turn["sql"]) for turn in turns} == {
        (None, None, None, "SELECT 1")
    }


@pytest.mark.parametrize("to", ["csv", "parquet", "huggingface"])
def test_the_order_of_arrival_leaves_no_trace(to: str, tmp_path: Path) -> None:
    found = [
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for seed in (1, 2)
        for folder in [exported(write(tmp_path / f"run{seed}", Sweep(talks=TALKS), shuffled=seed), to, "--no-prompts")]
    ]
    assert found[0] == found[1]


def test_an_unfinished_dialogue_is_there_and_its_run_is_marked(tmp_path: Path) -> None:
    folder = exported(write(tmp_path / "run", Sweep(talks=TALKS), dropped=3), "csv", "--no-prompts")
    ended = [row["ended"] for row in rows_of(folder / "dialogues.csv")]
    assert ended.count("false") == 1
    assert all("INCOMPLETE" in json.loads(row["marks"]) for row in rows_of(folder / "turns.csv"))


def test_hostile_text_is_written_whole_and_opens_no_formula(tmp_path: Path) -> None:
    told = {"category": "correct", "sql": HOSTILE}
    run = write(tmp_path / "run", Sweep(talks=TALKS, told=lambda model, condition, talk, turn: told))
    kept = HOSTILE.replace("\udcff", "\\udcff")
    (row, *_) = rows_of(exported(run, "csv", "--no-prompts") / "turns.csv")
    assert row["sql"] == f"'{kept}"
    (exact, *_), _ = parquet(exported(run, "parquet", "--no-prompts") / "turns.parquet")
    assert exact["sql"] == kept


@given(st.text())
def test_a_text_in_csv_begins_no_formula_and_can_be_given_back(text: str) -> None:
    cell = written(text)
    assert not cell.startswith(RISKY)
    assert (cell[1:] if cell.startswith("'") else cell) == text


def test_rows_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "ROWS", 2)
    folder = exported(write(tmp_path / "run", Sweep(talks=TALKS)), "parquet", "--no-prompts")
    file: Any = import_module("pyarrow.parquet").ParquetFile(folder / "turns.parquet")
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (10, 2)


def test_an_empty_table_is_a_table(tmp_path: Path) -> None:
    folder = exported(write(tmp_path / "run", Sweep(talks=TALKS), dropped=10_000_000), "parquet", "--no-prompts")
    assert parquet(folder / "turns.parquet")[0] == []

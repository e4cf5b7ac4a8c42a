from __future__ import annotations

import gzip
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from turntide.datasets.gold import GoldRunner
from turntide.datasets.tide.checks import Anchor, Candidate, first_failure
from turntide.datasets.tide.construction.anchors import AnchorQuery, Selection, TreeDrift
from turntide.datasets.tide.construction.questions import Question, load_questions
from turntide.datasets.tide.construction.selection import assigned, choices, select, stratified
from turntide.datasets.tide.construction.yields import Ground
from turntide.datasets.tide.design import Design
from turntide.datasets.tide.fixed import Doubts
from turntide.datasets.tide.samples import TIERS
from turntide.datasets.tide.schema import schema_of
from turntide.engine.cli import main

from ....conftest import ROOT

Selected = tuple[tuple[AnchorQuery, ...], Selection]


def test_every_candidate_is_kept_or_dropped_for_one_reason(selected: Selected) -> None:
    anchors, selection = selected
    assert selection.dropped == {
        "no_text": 0, "no_database": 1, "sql_parse": 1, "repeated": 1, "volatile": 0, "sql_execute": 1,
        "empty_result": 1, "too_simple": 1, "no_drift": 0, "open_result": 0,
    }  # fmt: skip
    assert selection.candidates == 10 == selection.kept + sum(selection.dropped.values())
    assert [anchor.id for anchor in anchors] == ["shop-dev-1", "shop-dev-2", "shop-dev-3", "shop-dev-10"]
    assert selection.executable == selection.kept + 1


def test_every_drift_of_a_tree_passes_the_eight_checks(selected: Selected, database: Path) -> None:
    schema = schema_of(database)
    with GoldRunner({"shop": database}) as runner:
        for anchor in selected[0]:
            for each in anchor.drifts:
                before = Anchor(anchor.sql, lambda sql: runner.result("shop", sql), schema)
                candidate = Candidate(drift_utterance="x", post_drift_sql=each.sql)
                assert first_failure(candidate, before, each.label) is None
    assert {each.label.subtype for each in selected[0][2].drifts} == {"value", "constraint", "projection"}


def test_other_values_come_from_what_the_literal_is_compared_with(selected: Selected) -> None:
    values = selected[0][2].values
    assert values["T1.city = 'Oslo'"][0] == "Bergen"
    assert values["STRFTIME('%Y', T2.day) = '2024'"] == ("2023",)


def test_a_column_that_is_shown_is_no_decision_and_all_else_is() -> None:
    assert choices("SELECT name, s.id FROM shop AS s") == 0
    assert choices("SELECT COUNT(*), city FROM shop WHERE id = 1 GROUP BY city ORDER BY city LIMIT 1") == 5


def test_the_draw_is_even_over_tiers_and_splits_and_follows_the_seed(selected: Selected) -> None:
    many = [
        AnchorQuery(
            id=f"{split}-{tier}-{number}", database="shop", split=split, question="?", evidence="", sql="SELECT 1",
            score=1, tier=tier, assigned=selected[0][0].assigned, drifts=selected[0][0].drifts,
        )
        for split, sizes in (("dev", (3, 40, 10)), ("train", (30, 30, 1)))
        for tier, size in zip(TIERS, sizes, strict=True)
        for number in range(size)
    ]  # fmt: skip
    drawn = stratified(many, 40, 1)
    counts = Counter((each.split, each.tier) for each in drawn)
    assert sorted(counts.values()) == [1, 3, 9, 9, 9, 9]
    assert drawn == stratified(many, 40, 1) != stratified(many, 40, 2)
    assert stratified(many, None, 1) == stratified(many, 1000, 1) == many
    labels = Counter(each.assigned.subtype for each in assigned(many, 0))
    assert max(labels.values()) - min(labels.values()) <= 1


@pytest.fixture(scope="module")
def bird(shared_data: Path) -> tuple[Mapping[str, Path], list[Question]]:
    """The two real databases that are here, and all development questions over them."""
    folder = shared_data / "bird"
    places = {name: folder / f"{name}.sqlite" for name in ("financial", "superhero")}
    return places, [each for each in load_questions(folder / "dev.json") if each.database in places]


def test_the_documented_shares_are_those_of_all_executable_anchors_of_bird(
    bird: tuple[Mapping[str, Path], list[Question]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every drift behind them passes the eight checks again, on a database that has answered nothing yet."""
    places, asked = bird
    schemas = {name: schema_of(path) for name, path in places.items()}
    found: dict[tuple[str, str], tuple[TreeDrift, ...]] = {}
    drifts_of = Ground.drifts

    def drifts(ground: Ground, sql: str) -> tuple[TreeDrift, ...]:
        name = next(name for name, schema in schemas.items() if schema.tables == ground.schema.tables)
        return found.setdefault((name, sql), drifts_of(ground, sql))

    monkeypatch.setattr(Ground, "drifts", drifts)
    _, selection = select(asked, places)
    assert len(found) == selection.executable == 216
    assert selection.yields == {"value": 177, "constraint": 183, "projection": 182}
    assert selection.fine_yields == {"select": 155, "limit_offset": 29, "order_by": 20, "having": 1}
    assert (selection.kept, selection.dropped["too_simple"], selection.dropped["no_drift"]) == (136, 76, 4)
    assert (selection.dropped["volatile"], selection.open_results) == (1, 18)
    with GoldRunner(places) as runner:
        for (name, sql), made in found.items():
            before = Anchor(sql, partial(runner.result, name), schemas[name])
            for drift in made:
                candidate = Candidate(drift_utterance=drift.what, post_drift_sql=drift.sql)
                assert first_failure(candidate, before, drift.label) is None, (sql, drift)
    documented = (ROOT / "docs" / "tide-construction.md").read_text()
    assert "| yield one | 177 (81.9 %) | 183 (84.7 %) | 182 (84.3 %) |" in documented
    assert f"the {sum(map(len, found.values()))} drifts behind these figures" in documented


def test_a_design_asks_more_of_its_anchors_and_gives_each_a_sequence_of_drifts(
    bird: tuple[Mapping[str, Path], list[Question]],
) -> None:
    places, asked = bird
    few, design = asked[::20], Design(depth=3, drifts=2, opens=1)
    schemas = {name: schema_of(path) for name, path in places.items()}
    anchors, selection = select(few, places, design=design)
    alone, whole = select(few, places)
    plain = {anchor.id for anchor in alone}
    assert selection.yields == whole.yields, "what one drift yields is the same under every design"
    assert all(0 < selection.sequences[name] <= count for name, count in whole.yields.items())
    assert whole.sequences == {}
    assert 0 < len(anchors) < len(plain)
    assert {anchor.id for anchor in anchors} <= plain
    assert selection.candidates == selection.kept + sum(selection.dropped.values()) == len(few)
    with GoldRunner(places) as runner:
        for anchor in anchors:
            first, second = anchor.planned
            assert first.label == anchor.assigned
            assert choices(first.sql, schemas[anchor.database]) >= 3
            assert second.sql not in (anchor.sql, first.sql)
            before = Anchor(first.sql, partial(runner.result, anchor.database), schemas[anchor.database])
            candidate = Candidate(drift_utterance="x", post_drift_sql=second.sql)
            assert first_failure(candidate, before, second.label) is None


def test_no_sequence_of_drifts_comes_back_to_an_earlier_query(database: Path) -> None:
    place = {"shop": database}
    with GoldRunner(place) as runner, Doubts(place, 10) as doubts:
        ground = Ground("shop", database, runner, doubts)
        sql = "SELECT name FROM shop WHERE city = 'Oslo' AND region = 'east'"
        for first in ground.sequences(sql, ground.drifts(sql), 4):
            queries = [sql, first.sql, *(drift.sql for drift in first.later)]
            assert len(queries) == len(set(queries)) == 5
        sql = "SELECT COUNT(id) FROM shop WHERE city = 'Bergen'"
        assert list(ground.sequences(sql, ground.drifts(sql), 9)) == []


def test_conversations_of_other_benchmarks_give_anchors_where_their_databases_are(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real SParC and CoSQL over two databases of their schemas, whose few rows are made up."""
    related = shared_data / "related"
    schemas = msgspec.json.decode(gzip.decompress((related / "spider_tables.json.gz").read_bytes()))
    for each in schemas:
        if each["db_id"] in ("orchestra", "pets_1"):
            _made_up(each, tmp_path / each["db_id"])
    files = [word for name in ("sparc", "cosql") for word in ("--questions", str(related / f"{name}_dev.json.gz"))]
    words = ["tide-build", "anchors", *files, "--data", str(tmp_path), "--json"]
    assert main([*words, "--out", str(tmp_path / "anchors")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kept"] + sum(found["dropped"].values()) == found["candidates"]
    assert (found["candidates"], found["kept"] > 10) == (422 + 293, True)
    assert (found["dropped"]["sql_parse"], found["dropped"]["sql_execute"]) == (0, 0)
    words = ["--anchors", str(tmp_path / "anchors"), "--data", str(tmp_path), "--chain", "none", "--drift", "tree"]
    assert main(["run", "tide-build", *words, "--sql-workers", "1", "--out", str(tmp_path / "run")]) == 0
    assert main(["tide-build", "assemble", str(tmp_path / "run"), "--out", str(tmp_path / "made.json")]) == 0
    check = ["data", "check", "tide", "--samples", str(tmp_path / "made.json"), "--data", str(tmp_path)]
    capsys.readouterr()
    assert main(check) == 0
    assert f"drift: {found['kept']} of {found['kept']} pass the eight checks" in capsys.readouterr().out


def _made_up(schema: dict[str, Any], folder: Path) -> None:
    """Write a database of a Spider schema with a dozen rows in each table."""
    folder.mkdir()
    columns = [
        (*column, kind) for column, kind in zip(schema["column_names_original"], schema["column_types"], strict=True)
    ]
    with closing(sqlite3.connect(folder / f"{folder.name}.sqlite")) as connection, connection:
        for place, table in enumerate(schema["table_names_original"]):
            own = [(name, kind) for at, name, kind in columns if at == place]
            types = ", ".join(f'"{name}" {"INTEGER" if kind == "number" else "TEXT"}' for name, kind in own)
            connection.execute(f'CREATE TABLE "{table}" ({types})')
            for row in range(12):
                values = [row * 7 % 12 + 1 if kind == "number" else f"{name} {row % 5}" for name, kind in own]
                connection.execute(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(own))})', values)

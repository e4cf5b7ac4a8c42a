from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.gold import GoldRunner
from turntide.datasets.tide.checks import Anchor, Candidate, first_failure
from turntide.datasets.tide.construction.anchors import AnchorQuery, Selection
from turntide.datasets.tide.construction.questions import load_questions
from turntide.datasets.tide.construction.selection import assigned, choices, select, stratified
from turntide.datasets.tide.construction.yields import Ground
from turntide.datasets.tide.samples import TIERS
from turntide.datasets.tide.schema import schema_of
from turntide.engine.cli import main

from ....support.cases import FIXTURES

QUESTIONS = FIXTURES / "tide" / "build_questions.json"
Selected = tuple[tuple[AnchorQuery, ...], Selection]


def test_every_candidate_is_kept_or_dropped_for_one_reason(selected: Selected) -> None:
    anchors, selection = selected
    assert selection.dropped == {
        "no_database": 1, "repeated": 1, "sql_parse": 1, "sql_execute": 1, "empty_result": 1, "too_simple": 1,
        "no_drift": 0,
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


def test_questions_of_every_known_file_are_read(tmp_path: Path) -> None:
    spider: list[dict[str, Any]] = [{"db_id": "a", "question": "q", "query": "SELECT 1", "sql": {}}]
    sparc: list[dict[str, Any]] = [
        {"database_id": "a", "interaction": [], "final": {"utterance": "q", "query": "SELECT 1"}}
    ]
    (tmp_path / "dev.json").write_text(json.dumps(spider))
    (tmp_path / "sparc_train.json.gz").write_bytes(gzip.compress(json.dumps(sparc).encode()))
    (tmp_path / "other.jsonl").write_text(json.dumps({"db_id": "a", "question": "q", "SQL": "SELECT 1"}) + "\n\n")
    for name, split in (("dev.json", "dev"), ("sparc_train.json.gz", "train"), ("other.jsonl", "other")):
        (found,) = load_questions(tmp_path / name)
        assert (found.database, found.question, found.sql, found.split) == ("a", "q", "SELECT 1", split)
    triplets = load_questions(FIXTURES / "tide" / "dialogues.json")
    assert triplets[0].sql
    assert triplets[0].database == "shop"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "neither JSON nor JSON lines"),
        ("[]", "holds no questions"),
        ("{}", "holds no questions"),
        ("[1]", "entry 1 is no object"),
        ('[{"db_id": "a", "question": "q"}]', "entry 1 lacks SQL or query"),
        ('[{"db_id": "a", "SQL": "q", "question": " "}]', "entry 1 lacks question or utterance"),
        ("\x1f\x8b", "neither JSON"),
    ],
)
def test_a_file_that_holds_no_questions_says_what_is_wrong(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "dev.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigurationError, match=said):
        load_questions(path)


def test_the_command_writes_the_same_bytes_twice_and_says_why_questions_were_dropped(
    tmp_path: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "tide-build",
        "anchors",
        "--questions",
        f"dev={QUESTIONS}",
        "--database",
        f"shop={database}",
        "--count",
        "2",
    ]
    for name in ("a", "b"):
        assert main([*words, "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    said = capsys.readouterr().out
    assert "dropped, too_simple: 1" in said
    assert "kept 4, drawn 2" in said
    assert main(["tide-build", "anchors", "--questions", str(QUESTIONS), "--out", str(tmp_path / "c")]) == 2
    assert "none of the questions' databases is here" in capsys.readouterr().err


def test_look_alikes_never_stand_beside_a_database_that_was_named(
    tmp_path: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        {"db_id": "shop", "question": "How many in Oslo?", "SQL": "SELECT COUNT(id) FROM shop WHERE city = 'Oslo'"},
        {"db_id": "financial", "question": "Loans?", "SQL": "SELECT COUNT(loan_id) FROM loan WHERE status = 'A'"},
    ]
    (tmp_path / "a=b.json").write_text(json.dumps(asked))
    words = ["tide-build", "anchors", "--questions", str(tmp_path / "a=b.json"), "--database", f"shop={database}"]
    assert main([*words, "--out", str(tmp_path / "anchors"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kept"], found["dropped"]["no_database"]) == (1, 1)


def test_most_anchors_of_bird_yield_every_subtype(shared_data: Path) -> None:
    """Over a seventh of the questions of the two real databases; docs/tide-construction.md has the shares over all."""
    bird = shared_data / "bird"
    places = {name: bird / f"{name}.sqlite" for name in ("financial", "superhero")}
    asked = [each for each in load_questions(bird / "dev.json") if each.database in places][::7]
    _, selection = select(asked, places)
    assert selection.candidates == len(asked)
    assert min(selection.yields.values()) > 0.7 * selection.executable
    with GoldRunner(places) as runner:
        assert Ground("superhero", places["superhero"], runner).drifts("SELECT id FROM superhero WHERE id = 1")

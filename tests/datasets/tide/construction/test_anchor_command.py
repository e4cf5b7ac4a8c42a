"""Files of questions, and `tide-build anchors`: what is read, and what is said of what cannot be."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.tide.construction.questions import load_questions
from turntide.engine.cli import main

from ....support.cases import FIXTURES

QUESTIONS = FIXTURES / "tide" / "build_questions.json"


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
        ('[{"db_id": "a", "SQL": 7, "question": "q"}]', "entry 1 lacks SQL or query"),
        ("\x1f\x8b", "neither JSON"),
    ],
)
def test_a_file_that_holds_no_questions_says_what_is_wrong(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "dev.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigurationError, match=said):
        load_questions(path)


def test_a_broken_line_is_told_by_its_number_and_an_empty_text_costs_one_question(tmp_path: Path) -> None:
    whole = [{"db_id": "a", "question": "q", "SQL": "SELECT 1"}, {"db_id": "a", "question": None, "SQL": " "}]
    lines = [json.dumps(each) for each in whole]
    path = tmp_path / "dev.jsonl"
    path.write_text("\n".join(lines))
    assert [(each.question, each.sql) for each in load_questions(path)] == [("q", "SELECT 1"), ("", "")]
    path.write_text("\n".join([*lines, "", '{"db_id": }']))
    with pytest.raises(ConfigurationError, match="line 4: JSON is malformed"):
        load_questions(path)


def _cut(data: bytes) -> bytes:
    return data[:5000]


def _garbage(_: bytes) -> bytes:
    return b"garbage"


def _empty(_: bytes) -> bytes:
    return b""


def _without_pages(data: bytes) -> bytes:
    return data[:100] + b"7" * (len(data) - 100)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (_cut, "shop.sqlite is cut short"),
        (_garbage, "shop.sqlite is not a SQLite database"),
        (_empty, "shop.sqlite is not a SQLite database"),
        (_without_pages, "shop.sqlite cannot be read"),
    ],
)
def test_a_broken_database_is_named_and_not_counted_as_absent(
    tmp_path: Path, database: Path, capsys: pytest.CaptureFixture[str], broken: Callable[[bytes], bytes], said: str
) -> None:
    (tmp_path / "shop.sqlite").write_bytes(broken(database.read_bytes()))
    words = ["tide-build", "anchors", "--questions", str(QUESTIONS), "--data", str(tmp_path)]
    assert main([*words, "--out", str(tmp_path / "anchors")]) == 2
    assert said in capsys.readouterr().err


def test_one_file_of_questions_is_of_one_split(
    tmp_path: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = ["--questions", f"dev={QUESTIONS}", "--questions", f"train={QUESTIONS}"]
    words = ["tide-build", "anchors", *twice, "--database", f"shop={database}", "--out", str(tmp_path / "anchors")]
    assert main(words) == 2
    assert f"names {QUESTIONS} twice" in capsys.readouterr().err


def test_anchors_over_look_alikes_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"db_id": "superhero", "question": "Q?", "SQL": "SELECT COUNT(id) FROM superhero WHERE height_cm > 180"}
    (tmp_path / "dev.json").write_text(json.dumps([asked]))
    words = ["tide-build", "anchors", "--questions", str(tmp_path / "dev.json"), "--out", str(tmp_path / "anchors")]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("SYNTHETIC: generated look-alikes stand in for superhero\n")


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

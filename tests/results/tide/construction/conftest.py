"""Construction from the command line: the small shop, its anchors, and what a report says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from turntide.engine.cli import main

from ....support.cases import FIXTURES

ANCHORS = 3
QUESTIONS = FIXTURES / "tide" / "build_questions.json"
MODELS = [
    "--model", "sim/tide-generator", "--judge", "sim/tide-judge", "--judge", "sim/tide-judge?rejects=0", "--rewriter",
    "sim/tide-rewriter", "--tester", "sim/tide-tester",
]  # fmt: skip


@pytest.fixture(scope="session")
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
    """Return the words that begin a construction of the shop in the folder `out` of the place."""
    anchors = ["--anchors", str(place / "anchors.json"), "--data", str(place)]
    return ["run", "tide-build", *anchors, "--sql-workers", "1", *more, "--out", str(place / out)]


def tables_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, list[list[Any]]]:
    """Return the rows of each table of a run's report, by its key."""
    assert main(["report", str(folder), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    return {table["key"]: table["rows"] for table in report["tables"]}

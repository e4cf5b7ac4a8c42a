"""A run scored again: from its answers alone, kept beside its own scoring, with what changed and what did not."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from turntide.adapters.simulated import Config, serve
from turntide.engine.again.rescoring import rescore
from turntide.engine.errors import RunError
from turntide.engine.folder.scorings import Draft, Scoring, merged, numbers, outdated
from turntide.engine.journal import Journal, Line, Lines, scan
from turntide.engine.sql.executor import SqlExecutor
from turntide.engine.unit import Context, Unit

from ...support.toy import TURNS, Toy, run_toy


def records(lines: list[Line]) -> list[str]:
    return sorted(
        json.dumps([line["u"], line["b"], line["s"], line["fields"]]) for line in lines if line["k"] == "record"
    )


async def again(toy: Toy, run: Path) -> tuple[list[Line], int]:
    found: list[Line] = []
    async with SqlExecutor(toy.databases, timeout=5, workers=1) as executor:
        with Lines(run / "journal.jsonl") as lines:
            units = await rescore(toy, ["sim/echo"], 1, 0, lines, executor, found.append)
    return found, units


@pytest.fixture
async def run(tmp_path: Path) -> Path:
    """A finished run of 12 dialogues: in an ordered lane, in waves, and alone."""
    async with serve(Config()) as base_url:
        await run_toy(tmp_path / "run", base_url, units=12)
    return tmp_path / "run"


def toy(run: Path, units: int = 12) -> Toy:
    return Toy(run.parent / "data", units)


async def test_nothing_changes_where_nothing_changed_and_nothing_is_asked(run: Path) -> None:
    before = (run / "journal.jsonl").read_bytes()
    found, units = await again(toy(run), run)  # no provider is there to be asked
    assert records(found) == records(list(scan(run / "journal.jsonl")))
    assert units == 12
    assert Counter(line["k"] for line in found) == {"sql": 12 * TURNS, "record": 12 * TURNS}
    assert (run / "journal.jsonl").read_bytes() == before


async def test_changed_data_change_the_records_and_never_the_course(run: Path) -> None:
    with sqlite3.connect(toy(run).databases["numbers"]) as connection:
        connection.execute("UPDATE n SET v = 0")
    connection.close()
    found, _ = await again(toy(run), run)
    old = list(scan(run / "journal.jsonl"))
    assert records(found) != records(old)
    assert {(line["u"], line["s"]) for line in found if line["k"] == "record"} == {
        (line["u"], line["s"]) for line in old if line["k"] == "record"
    }


async def test_an_unfinished_dialogue_is_scored_as_far_as_it_was_answered(run: Path) -> None:
    lines = list(scan(run / "journal.jsonl"))
    cut = run.parent / "cut"
    cut.mkdir()
    half = [line for line in lines if line["k"] in ("sent", "answer")][: 2 * (12 * TURNS // 2)]
    with Journal.open(cut / "journal.jsonl") as journal:
        for line in half:
            journal.append(line)
    found, units = await again(toy(run), cut)
    assert len(records(found)) == sum(line["k"] == "answer" for line in half)
    assert set(records(found)) <= set(records(lines))
    assert units == len({line["u"] for line in half})


async def test_data_without_a_dialogue_of_the_run_are_refused(run: Path) -> None:
    with pytest.raises(RunError, match=r"9 dialogues of the run are none of this benchmark"):
        await again(toy(run, 3), run)


class Longer(Toy):
    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        await super().dialogue(unit, ctx)
        await ctx.ask(unit.model, [])


async def test_a_dialogue_that_would_ask_more_than_the_run_did_is_an_error_that_names_it(run: Path) -> None:
    with pytest.raises(RunError, match="takes another course now than in the run"):
        await again(Longer(run.parent / "data", 12), run)


class TestScorings:
    """Each is a file of its own; the newest is read, the run's own stays."""

    def line(self, seq: int, text: str = "new") -> Line:
        return {"k": "record", "u": "u", "b": "", "s": seq, "fields": {"text": text}}

    def keep(self, run: Path, *lines: Line) -> int:
        with Draft(run) as draft:
            for line in lines:
                draft.add(line)
            return draft.finish({"differs": []})

    def test_they_are_numbered_and_say_what_they_are(self, tmp_path: Path) -> None:
        assert [self.keep(tmp_path, self.line(1)) for _ in range(3)] == [1, 2, 3] == numbers(tmp_path)
        scoring = Scoring(tmp_path, 2)
        assert scoring.seal == {"k": "scoring", "differs": []}
        with pytest.raises(RunError, match=r"no scoring 7; it has 0, 1, 2, 3"):
            Scoring(tmp_path, 7)

    @pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
    def test_a_folder_or_a_pipe_is_no_scoring(self, tmp_path: Path, make: Callable[[Path], None]) -> None:
        (tmp_path / "scorings").mkdir()
        make(tmp_path / "scorings" / "0001.jsonl")
        with pytest.raises(RunError, match="is no file"):
            Scoring(tmp_path, 1)

    def test_a_draft_that_was_not_finished_leaves_nothing(self, tmp_path: Path) -> None:
        with Draft(tmp_path) as draft:
            draft.add(self.line(1))
        assert numbers(tmp_path) == []
        assert not (tmp_path / "scorings").exists()

    def test_a_scoring_that_was_cut_or_changed_is_refused(self, tmp_path: Path) -> None:
        self.keep(tmp_path, self.line(1), self.line(2))
        path = tmp_path / "scorings" / "0001.jsonl"
        whole = path.read_bytes()
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
        with pytest.raises(RunError, match="lacks its end"):
            Scoring(tmp_path, 1)
        path.write_bytes(whole.replace(b"new", b"old", 1))
        with pytest.raises(RunError, match="damaged"):
            Scoring(tmp_path, 1)

    def test_a_scoring_replaces_what_it_covers_and_leaves_the_rest(self, tmp_path: Path) -> None:
        journal: list[Line] = [
            {"k": "answer", "u": "u", "b": "", "s": 0, "text": "SELECT 1"}, self.line(1, "old"), self.line(3, "late"),
        ]  # fmt: skip
        self.keep(tmp_path, self.line(1))
        scoring = Scoring(tmp_path, 1)
        assert list(merged(iter(journal), scoring)) == [journal[0], journal[2], self.line(1)]
        assert outdated(iter(journal), scoring) == 1

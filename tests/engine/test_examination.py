"""A run examines its gold once, beside its dialogues, and every later report finds it in the journal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.simulated import Config, serve
from turntide.engine.journal import scan
from turntide.engine.run import execute
from turntide.engine.unit import Reference
from turntide.engine.watch.live import Live

from ..support.toy import Toy, run_toy, toy_spec


class Doubtful(Toy):
    def references(self) -> Iterable[Reference]:
        yield Reference("one", "numbers", "SELECT COUNT(*) FROM n")
        yield Reference("two", "numbers", "SELECT v FROM n LIMIT 1")
        yield Reference("two again", "numbers", "SELECT v FROM n LIMIT 1")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNTIDE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def lines(folder: Path) -> list[dict[str, Any]]:
    return [line for line in scan(folder / "journal.jsonl") if line["k"] == "gold"]


async def test_a_complete_run_holds_what_was_found_once(tmp_path: Path, cache: Path) -> None:
    async with serve(Config()) as base_url:
        for _ in range(2):
            await run_toy(tmp_path / "run", base_url, toy=Doubtful(tmp_path / "data", 6))
    (line,) = lines(tmp_path / "run")
    assert line["examined"] == 3
    assert [(each["name"], each["found"]) for each in line["findings"]] == [
        ("two", ["order"]),
        ("two again", ["order"]),
    ]
    assert len(list((cache / "quality").iterdir())) == 1


async def test_a_later_run_on_the_same_database_takes_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(Config()) as base_url:
        await run_toy(tmp_path / "first", base_url, toy=Doubtful(tmp_path / "data", 6))
        monkeypatch.setattr("turntide.engine.sql.quality.Examiner.findings", None)  # whoever calls it fails
        await run_toy(tmp_path / "second", base_url, toy=Doubtful(tmp_path / "data", 6))
    assert lines(tmp_path / "first") == lines(tmp_path / "second")


async def test_a_run_that_is_ended_early_leaves_it_to_the_next_part(tmp_path: Path) -> None:
    def stop(live: Live) -> None:
        from turntide.engine.errors import Unfinished

        live.closing.begin(Unfinished("draining", "enough"))

    async with serve(Config()) as base_url:
        toy = Doubtful(tmp_path / "data", 6)
        environ = {"TURNTIDE_SIM_BASE_URL": base_url}
        assert (await execute(toy_spec(), toy, tmp_path / "run", stop, environ)).exit_code == 130
        assert lines(tmp_path / "run") == []
        assert (await run_toy(tmp_path / "run", base_url, toy=Doubtful(tmp_path / "data", 6))).exit_code == 0
    assert len(lines(tmp_path / "run")) == 1

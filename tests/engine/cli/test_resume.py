"""`turntide resume`: the run's own specification, with the settings that are given."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from turntide.engine.cli import launch, main
from turntide.engine.folder.manifest import Manifest
from turntide.engine.shards.folder import open_whole
from turntide.engine.spec import Settings, Spec

from tests.support.sweeps import Sweep, Talk, write


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[Spec]:
    """Collect what would be launched."""
    specs: list[Spec] = []

    def note(spec: Spec, *, as_json: bool, until: datetime | None, redis: str | None) -> int:
        assert (until, redis) == (None, None)
        specs.append(spec)
        return 3

    monkeypatch.setattr(launch, "launch", note)
    return specs


def test_it_goes_on_in_the_same_folder_with_only_the_given_settings_changed(
    tmp_path: Path, launched: list[Spec]
) -> None:
    write(tmp_path, Sweep(talks=[Talk(name="NW-1")]))
    assert main(["resume", str(tmp_path), "--max-cost", "2.50", "--concurrency", "7"]) == 3
    [spec] = launched
    assert (spec.benchmark, [model.id for model in spec.models]) == ("enterprisemem", ["sim/one"])
    assert spec.out == str(tmp_path)
    assert spec.settings == Settings(max_cost="2.50", concurrency=7)


def test_from_another_place_it_says_where_the_runs_relative_paths_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    write(home / "run", Sweep(talks=[Talk(name="NW-1")]))
    elsewhere.mkdir()
    (home / "mine.json").write_text("[]")
    held = Manifest.load(home / "run")
    asked = held.settings["spec"] | {"options": {"sessions": "mine.json", "data": "."}}
    replace(held, settings={"spec": asked, "cwd": str(home)}).save(home / "run")
    monkeypatch.chdir(elsewhere)
    assert main(["resume", "../home/run"]) == 2
    said = capsys.readouterr().err
    assert f"The run's own paths (mine.json) are relative to {home}, where it was started: resume it there." in said
    monkeypatch.chdir(home)
    assert main(["resume", "run"]) == 2
    assert "relative to" not in capsys.readouterr().err


def test_a_folder_without_a_run_is_refused(
    tmp_path: Path, launched: list[Spec], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["resume", str(tmp_path)]) == 2
    assert "is not a run" in capsys.readouterr().err
    assert launched == []


def test_a_shard_is_not_gone_on_with_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = Sweep(talks=[Talk(name="NW-1")]).manifest()
    open_whole(tmp_path, {**manifest.identity, "shards": 2}, manifest.settings, 2)
    assert main(["resume", str(tmp_path / "shard-1")]) == 2
    assert f"is one shard of a run: resume {tmp_path}." in capsys.readouterr().err

from __future__ import annotations

import json
from pathlib import Path

import pytest
from turntide.datasets.enterprisemem import embedded as module
from turntide.datasets.enterprisemem.embedded import embedded_place, embedded_sessions
from turntide.datasets.enterprisemem.sessions import Session, dump_sessions, load_sessions
from turntide.datasets.gold import GoldRunner
from turntide.datasets.tide import embedded as tide
from turntide.engine.cli import main


@pytest.fixture
def cache(look_alikes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNTIDE_CACHE", str(look_alikes))
    return look_alikes


def test_the_sessions_are_built_at_first_need_and_then_read(
    cache: Path, embedded: tuple[Session, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded_place(cache).unlink(missing_ok=True)

    def generate(_: GoldRunner) -> tuple[tuple[Session, ...], None]:
        return embedded, None

    monkeypatch.setattr(module, "generate", generate)
    assert load_sessions(embedded_sessions()) == embedded
    monkeypatch.setattr(module, "generate", None)
    assert embedded_sessions() == embedded_place(cache)


def test_the_command_builds_what_is_missing_and_says_where_all_is(
    cache: Path, embedded: tuple[Session, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    embedded_place(cache).write_bytes(dump_sessions(embedded))
    tide.embedded_place(cache).write_text("{}")
    assert main(["data", "build", "--json"]) == 0
    built = json.loads(capsys.readouterr().out)
    assert set(built) == {"northwind", "sec_edgar", "financial", "superhero", "enterprisemem", "tide"}
    assert all(Path(path).is_file() for path in built.values())
    assert main(["data", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {entry["name"] for entry in listed if entry["synthetic"] and entry["bytes"]} == set(built)

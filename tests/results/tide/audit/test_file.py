"""The audit's file: begun once, gone on with, and only by those who ask for the same."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.results.tide.audit.opening import Request, opened
from turntide.results.tide.audit.store import Store

from .conftest import Begin, made, written


def test_tokens_and_answers_stay_and_more_annotators_may_come(begin: Begin) -> None:
    store = begin(people=["ana"])
    (ana,) = store.annotators()
    store.answer("ana", store.tasks[0].id, "underspecified", "yes")
    store.comment("ana", store.tasks[0].id, "well\n")
    store.move("ana", 3)
    again = opened(store.path, Request(), ["ben", "ana"])
    assert again.annotators()[0] == ana
    assert [each.name for each in again.annotators()] == ["ana", "ben"]
    assert again.answers("ana") == {store.tasks[0].id: {"underspecified": "yes"}}
    assert again.comments("ana") == {store.tasks[0].id: "well\n"}
    assert (again.place("ana"), again.place("ben")) == (3, 0)
    again.close()


def test_a_copy_of_the_file_alone_has_all_that_was_saved(begin: Begin, tmp_path: Path) -> None:
    store = begin()
    store.answer("ana", store.tasks[0].id, "underspecified", "yes")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.sqlite", "triplets.json"]
    copy = Path(shutil.copy(store.path, tmp_path / "copy.sqlite"))
    before = copy.read_bytes()
    with Store(copy, reading=True) as copied:
        assert copied.annotators() == store.annotators()
        assert copied.answers("ana") == {store.tasks[0].id: {"underspecified": "yes"}}
        assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.sqlite", "copy.sqlite", "triplets.json"]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            copied.move("ana", 1)
    assert copy.read_bytes() == before


@pytest.mark.parametrize("reading", [True, False])
def test_an_audit_begun_with_a_log_beside_it_is_read_with_it_and_becomes_one_file(begin: Begin, reading: bool) -> None:
    path = begin().path
    with closing(sqlite3.connect(path)) as killed:
        killed.execute("PRAGMA journal_mode = WAL")
        killed.execute("UPDATE annotator SET place = 4 WHERE name = 'ana'")
        killed.commit()
        for name in (path.name, f"{path.name}-wal"):
            shutil.copy(path.with_name(name), path.with_name(f"old-{name}"))
    old = path.with_name(f"old-{path.name}")
    with Store(old, reading=reading) as store:
        assert store.place("ana") == 4
        assert not list(path.parent.glob("old-*-*"))


def test_a_report_takes_back_the_save_that_a_killed_server_left_half_done(begin: Begin) -> None:
    path = begin().path
    kill = (
        "import os, sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "database.executescript('PRAGMA cache_size = 1; BEGIN; UPDATE task SET content = upper(content)')\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", kill, str(path)], check=False)
    assert Path(f"{path}-journal").stat().st_size
    with Store(path, reading=True) as store:
        assert store.tasks[0].kind == "chain"
    assert not Path(f"{path}-journal").exists()


def test_the_file_is_its_owners_alone_and_nothing_else_is_left(begin: Begin, tmp_path: Path) -> None:
    store = begin()
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.sqlite", "triplets.json"]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(seed=3), "seed 0"),
        (Request(count=9, calibration=1), "count 2"),
        (Request(calibration=0), "calibration 1"),
    ],
)
def test_another_draw_than_the_file_has_is_refused(begin: Begin, request_: Request, said: str) -> None:
    store = begin()
    with pytest.raises(ConfigurationError, match=f"was begun with {said};"):
        opened(store.path, request_, [])


def test_other_triplets_than_the_file_was_begun_with_are_refused(begin: Begin, tmp_path: Path) -> None:
    store = begin()
    with pytest.raises(ConfigurationError, match="other triplets"):
        opened(store.path, Request(samples=written(tmp_path / "other.json", made(9))), [])


def test_what_is_no_audit_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE mine (x)")
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").touch()
    for path in (other, tmp_path / "text", tmp_path / "empty"):
        before = path.read_bytes()
        with pytest.raises(ConfigurationError, match=path.name):
            opened(path, Request(), ["ana"])
        assert path.read_bytes() == before
    with pytest.raises(ConfigurationError, match="there is no audit"):
        Store(tmp_path / "none")


def test_an_audit_without_annotators_is_not_served_in_silence(begin: Begin) -> None:
    store = begin()
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("DELETE FROM annotator")
    with pytest.raises(ConfigurationError, match="names nobody who annotates: --annotator NAME"):
        opened(store.path, Request(), [])


def test_an_audit_that_nobody_is_to_annotate_is_not_begun(begin: Begin, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--annotator NAME"):
        begin(people=[])
    assert not (tmp_path / "audit.sqlite").exists()


def test_several_processes_may_write_one_file(begin: Begin) -> None:
    first = begin(count=1, calibration=0)
    others = [opened(first.path, Request(), []) for _ in range(3)]
    pairs = list(zip(("ana", "ben", "cleo"), others, strict=True))

    def fill(pair: tuple[str, Store]) -> None:
        name, store = pair
        for task in store.tasks:
            for item in task.items:
                store.answer(name, task.id, item.key, "yes")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(fill, pairs))
    assert all(sum(map(len, first.answers(name).values())) == 15 for name, _ in pairs)
    for store in others:
        store.close()

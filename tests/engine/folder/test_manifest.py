"""A run is resumed as what it was, or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.adapters.base import ConfigurationError, Json
from turntide.engine.errors import RunError
from turntide.engine.folder.binding import begin_journal
from turntide.engine.folder.manifest import Manifest, ManifestMismatch, differences, open_or_create
from turntide.engine.journal import canonical, scan
from turntide.engine.system.digests import file_digest, text_digest

IDENTITY: dict[str, Json] = {
    "benchmark": "enterprisemem",
    "models": [{"id": "p/m", "options": {"temperature": 0.5}}, {"id": "p/n", "options": {}}],
    "prompts": {"system": "You write SQL. " * 20 + "Think first."},
    "limit": None,
    "seed": 7,
}
SETTINGS: dict[str, Json] = {"concurrency": 100, "max_cost": "1.00"}

Change = Callable[[dict[str, Any]], object]


def test_a_run_is_opened_again_as_it_was_made(tmp_path: Path) -> None:
    made = open_or_create(tmp_path, IDENTITY, SETTINGS)
    assert (made.identity, made.settings) == (IDENTITY, SETTINGS)
    reordered = dict(reversed(IDENTITY.items()))
    assert open_or_create(tmp_path, reordered, SETTINGS) == made == Manifest.load(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["journal.jsonl", "manifest.json"]


def test_two_runs_of_one_identity_have_names_of_their_own(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    a, b = (open_or_create(tmp_path / name, IDENTITY, SETTINGS) for name in "ab")
    assert a.run != b.run


def test_settings_change_freely_and_the_latest_are_kept(tmp_path: Path) -> None:
    made = open_or_create(tmp_path, IDENTITY, SETTINGS)
    raised = open_or_create(tmp_path, IDENTITY, {**SETTINGS, "max_cost": "2.00"})
    assert raised == Manifest.load(tmp_path)
    assert (raised.run, raised.settings["max_cost"]) == (made.run, "2.00")


CHANGES: list[tuple[Change, str]] = [
    (lambda i: i.update(seed=8), "seed: 7 → 8"),
    (lambda i: i.update(seed=7.0), "seed: 7 → 7.0"),
    (lambda i: i.update(limit=20), "limit: null → 20"),
    (lambda i: i.pop("limit"), "limit: null → (absent)"),
    (lambda i: i.update(shuffle=True), "shuffle: (absent) → true"),
    (lambda i: i["models"][0]["options"].update(temperature=0), "models[0].options.temperature: 0.5 → 0"),
    (lambda i: i["models"].pop(), 'models[1]: {"id":"p/n","options":{}} → (absent)'),
    (lambda i: i["prompts"].update(system="You write SQL. " * 20 + "Be brief."), 'SQL. Think first." → …'),
]


@pytest.mark.parametrize(("change", "shown"), CHANGES, ids=[shown for _, shown in CHANGES])
def test_another_identity_is_refused_with_the_difference_and_the_way_out(
    tmp_path: Path, change: Change, shown: str
) -> None:
    open_or_create(tmp_path, IDENTITY, SETTINGS)
    before = (tmp_path / "manifest.json").read_bytes()
    asked = deepcopy(IDENTITY)
    change(asked)
    with pytest.raises(ManifestMismatch) as caught:
        open_or_create(tmp_path, asked, {})
    assert shown in str(caught.value)
    assert "new run in another folder" in str(caught.value)
    assert len(caught.value.differences) == 1
    assert (tmp_path / "manifest.json").read_bytes() == before


def test_a_long_list_of_differences_is_cut(tmp_path: Path) -> None:
    open_or_create(tmp_path, {str(number): 1 for number in range(100)}, {})
    with pytest.raises(ManifestMismatch, match="… and 80 more"):
        open_or_create(tmp_path, {str(number): 2 for number in range(100)}, {})


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@given(values, values)
def test_values_differ_exactly_when_their_canonical_bytes_do(old: Json, new: Json) -> None:
    assert bool(list(differences(old, new))) == (canonical(old) != canonical(new))
    assert all(str(difference) for difference in differences(old, new))


@settings(deadline=None)  # a busy disk takes its time
@given(st.dictionaries(st.text(), values, max_size=3))
def test_a_manifest_gives_back_what_it_was_given(tmp_path_factory: pytest.TempPathFactory, identity: Any) -> None:
    folder = tmp_path_factory.mktemp("run")
    Manifest(run="r", identity=identity, settings={}).save(folder)
    assert canonical(Manifest.load(folder).identity) == canonical(identity)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "missing required field `run`"),
        ('{"run":1,"identity":{},"settings":{}}', r"Expected `str`, got `int` - at `\$\.run`"),
        ('{"run":"r","identity":1,"settings":{}}', r"at `\$\.identity`"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_a_clear_error_that_names_the_field(
    tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ConfigurationError, match=said):
        open_or_create(tmp_path, IDENTITY, SETTINGS)


@pytest.mark.parametrize("name", ["manifest.json", "journal.jsonl", "summary.json", "lock"])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_folder_or_a_pipe_in_place_of_a_file_is_a_clear_error(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    open_or_create(tmp_path, IDENTITY, SETTINGS)
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    with pytest.raises(ConfigurationError, match=rf"{name} is .*, where a run keeps a file"):
        Manifest.load(tmp_path)


def test_a_folder_that_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not a run"):
        Manifest.load(tmp_path)


def test_a_journal_without_its_manifest_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("{}\n")
    with pytest.raises(ConfigurationError, match=r"without its manifest\.json"):
        open_or_create(tmp_path, IDENTITY, SETTINGS)


def test_what_a_crash_left_of_a_draft_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "manifest.json.tmp").write_text("half a mani")
    assert open_or_create(tmp_path, IDENTITY, SETTINGS) == Manifest.load(tmp_path)
    assert not (tmp_path / "manifest.json.tmp").exists()


def test_digests_are_sha256_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes("é".encode())
    assert file_digest(tmp_path / "data") == text_digest("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()
    assert text_digest("\ud800") != text_digest("?")


def test_a_run_killed_between_its_journals_beginning_and_its_manifest_is_begun_again(tmp_path: Path) -> None:
    begin_journal(tmp_path, "of a process that was killed")
    made = open_or_create(tmp_path, IDENTITY, SETTINGS)
    assert [line["run"] for line in scan(tmp_path / "journal.jsonl")] == [made.run]
    assert open_or_create(tmp_path, IDENTITY, SETTINGS) == made


@pytest.mark.parametrize("lost", [True, False], ids=["gone", "emptied"])
def test_a_run_whose_journal_is_lost_is_not_begun_again(tmp_path: Path, lost: bool) -> None:
    open_or_create(tmp_path, IDENTITY, SETTINGS)
    journal = tmp_path / "journal.jsonl"
    journal.unlink() if lost else journal.write_bytes(b"")
    with pytest.raises(RunError, match="would pay for all of them again"):
        open_or_create(tmp_path, IDENTITY, SETTINGS)


def test_a_run_does_not_go_on_with_the_journal_of_another(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        open_or_create(tmp_path / name, IDENTITY, SETTINGS)
    (tmp_path / "a" / "journal.jsonl").replace(tmp_path / "b" / "journal.jsonl")
    with pytest.raises(RunError, match="is not the journal of the run"):
        open_or_create(tmp_path / "b", IDENTITY, SETTINGS)

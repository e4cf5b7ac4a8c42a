"""A run's folder from someone else: reading it writes what was asked for and nothing else, wherever its names lead."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import ConfigurationError, Usage
from turntide.engine.cli import main
from turntide.engine.folder.lock import RunLock
from turntide.engine.folder.manifest import Manifest
from turntide.engine.folder.scorings import Draft
from turntide.engine.system.files import replace_file

from tests.support.sweeps import Sweep, Talk, write

UP = "../../../../up"
CODE = "=cmd|' /C calc'!A0 \x1b]0;owned\x07<script>alert(1)</script>"


def told(model: str, condition: str, talk: Talk, turn: int) -> Mapping[str, Any]:
    return {"category": "wrong_result", "sql": CODE, "result": CODE}


LEADING_OUT = Sweep(
    talks=[Talk(name="..", cluster=UP), Talk(name="..\\..\\up", turns=4), Talk(name=CODE.replace("/", ""))],
    models=(f"sim/{UP}", "sim//up", f"sim/{CODE}"),
    told=told,
    spent=Usage(input_tokens=10**17, output_tokens=10**17),
    usd=Decimal("1e30"),
    returned=lambda model: CODE,
)
READING = {
    "status": ["status", "run", "--json"],
    "report": ["report", "run", "--operations"],
    "tables": ["report", "run", "--format", "csv", "--out", "out"],
    "html": ["report", "run", "--html", "out.html", "--operations"],
    "compare": ["compare", "run", "--format", "markdown", "--out", "out"],
    "rescore": ["rescore", "run"],
    **{form: ["export", "run", "--to", form, "--out", "out"] for form in ("csv", "inspect", "otel")},
}


def nothing(name: str) -> None:
    """Find no module."""


def lock(folder: Path) -> None:
    with RunLock(folder):
        pass


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("words", READING.values(), ids=READING)
def test_names_that_lead_elsewhere_and_huge_numbers_lead_nowhere(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    here = tmp_path / "a" / "b" / "c"
    write(here / "run", LEADING_OUT)
    monkeypatch.chdir(here)
    monkeypatch.setattr("turntide.engine.cli.report_files.find_spec", nothing)  # figures take long to draw
    before = content(tmp_path)
    assert main(words) in (0, 2)
    assert "\x1b" not in "".join(capfd.readouterr())
    after = content(tmp_path)
    assert {path: after.get(path) for path in before} == before
    made = [path.relative_to(here).parts[0] for path in after.keys() - before.keys()]
    assert {name.partition(".")[0] for name in made} <= {"out"}
    if words[0] == "report" and len(words) > 3:
        assert made


ODD: list[Callable[[dict[str, Any]], object]] = [
    lambda m: m["identity"].update(models=[{"label": {}, "id": "sim/one", "options": {}}]),
    lambda m: m["identity"]["models"][0].update(options="\ud800"),
    lambda m: m["identity"].update(auxiliary="none"),
    lambda m: m["identity"].update(repeats=-(10**9)),
    lambda m: m["identity"].update(seed="0"),
    lambda m: m["identity"].update(experiment=[]),
    lambda m: m["identity"].pop("benchmark"),
    lambda m: m["settings"].update(spec=None),
    lambda m: m["settings"]["spec"].update(settings="\ud800"),
]


@pytest.mark.parametrize("command", ["status", "report", "compare", "rescore", "export", "resume"])
@pytest.mark.parametrize("odd", ODD)
def test_a_manifest_of_another_shape_is_refused_in_a_sentence(
    odd: Callable[[dict[str, Any]], object], command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write(tmp_path / "run", Sweep(talks=[Talk(name="NW-1")]))
    held = Manifest.load(run)
    parts: dict[str, Any] = {"identity": held.identity, "settings": held.settings}
    odd(parts)
    replace(held, **parts).save(run)
    more = ["--to", "csv", "--out", str(tmp_path / "out")] if command == "export" else []
    assert main([command, str(run), *more]) == 2
    assert "manifest.json is not what turntide writes (" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["lock", "journal.jsonl", "journal.torn", "manifest.json.tmp", "summary.json", "scorings", "scorings/x"]
)
@pytest.mark.parametrize("writer", [lock, Draft], ids=["run", "rescore"])
def test_a_run_with_a_symbolic_link_is_never_written_to(
    writer: Callable[[Path], object], name: str, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("mine")
    link = tmp_path / "run" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(theirs)
    with pytest.raises(ConfigurationError, match="is a symbolic link"):
        writer(tmp_path / "run")
    assert theirs.read_text() == "mine"
    assert os.listdir(tmp_path / "run") == [Path(name).parts[0]]  # noqa: PTH208 - the same of a broken link


def test_a_file_is_replaced_and_never_written_through_a_link_that_waits_beside_it(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("mine")
    (tmp_path / "report.md.tmp").symlink_to(theirs)
    replace_file(tmp_path / "report.md", b"ours")
    assert theirs.read_text() == "mine"
    assert (tmp_path / "report.md").read_bytes() == b"ours"


def test_a_new_run_is_open_to_its_owner_alone_and_the_mode_of_an_old_one_stays(tmp_path: Path) -> None:
    for folder, mode in ((tmp_path / "runs" / "new", 0o700), (tmp_path / "old", 0o750)):
        if mode != 0o700:
            folder.mkdir(mode)
        with RunLock(folder):
            assert stat.S_IMODE(folder.stat().st_mode) == mode

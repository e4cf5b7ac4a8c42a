"""Real runs whose models answer with all that could hurt a reader: kept as it came, and harmless wherever shown."""

from __future__ import annotations

import csv
import io
import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from turntide.engine.cli import main
from turntide.engine.journal import scan
from turntide.results.exports.csv_files import RISKY

from ...support.hostile_provider import ERRORS, hostile_answers, hostile_provider
from .conftest import opened, rows

if TYPE_CHECKING:
    from playwright.async_api import Browser

RUNS = {
    "memory": ["enterprisemem", "--model", "sim/hostile", "--condition", "B", "--limit", "33"],
    "drift": ["tide", "--model", "sim/hostile", "--limit", "3"],
    "failed": ["enterprisemem", "--limit", "1", "--retries", "0", *(f"--model=sim/{name}" for name in ERRORS)],
}
CODES = {"memory": 0, "drift": 0, "failed": 3}
ACTIVE = "img, iframe, style, script, svg, form, base, meta, a[href]"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs; what they printed stands beside each."""
    folder = tmp_path_factory.mktemp("hostile")
    with hostile_provider() as base_url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNTIDE_SIM_BASE_URL", base_url)
        for name, words in RUNS.items():
            said = io.StringIO()
            patch.setattr("sys.stderr", said)
            patch.setattr("sys.stdout", said)
            assert main(["run", *words, "--out", str(folder / name), "--sql-workers", "1"]) == CODES[name]
            (folder / f"{name}.txt").write_text(said.getvalue(), "utf-8")
    return folder


@pytest.fixture
def written(hostile: Path) -> Path:
    """The page of a run."""
    path = hostile / "memory.html"
    assert main(["report", str(hostile / "memory"), "--html", str(path)]) == 0
    return path


COMMANDS = {
    "memory": [
        "report memory --operations",
        "export memory --to csv --out out/memory/csv",
        "export memory --to inspect --out out/memory/inspect",
        "rescore memory",
    ],
    "drift": [
        "report drift --format markdown --out out/drift/markdown",
        "report drift --format latex --out out/drift/latex",
        "export drift --to parquet --out out/drift/parquet",
        "export drift --to otel --out out/drift/spans.jsonl",
    ],
    "failed": ["status failed"],
}
"""Commands that show a run; between the two runs every form there is."""


@pytest.mark.parametrize("run", ["memory", "drift"])
def test_every_answer_is_kept_as_it_came(run: str, hostile: Path) -> None:
    kept = {line["text"] for line in scan(hostile / run / "journal.jsonl") if line["k"] == "answer"}
    assert kept == {*hostile_answers()}


@pytest.mark.parametrize("run", RUNS)
def test_nothing_that_a_provider_says_speaks_to_the_terminal(
    run: str, hostile: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    said = Path(f"{run}.txt").read_text("utf-8")
    for command in COMMANDS[run]:
        code = main(command.split())
        printed = capsys.readouterr()
        assert code == 0 or run == "failed", printed.err
        said += printed.out + printed.err
    assert {sign for sign in said if not sign.isprintable()} == {"\n"}
    assert run != "failed" or "\\x1b[2J" in said


def test_what_was_written_can_be_read_and_no_cell_is_a_formula(hostile: Path) -> None:
    csv.field_size_limit(2**30)
    for path in (hostile / "out").rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            cells = [*chain.from_iterable(csv.reader(file))]
        assert cells
        assert not [cell for cell in cells if cell.startswith(RISKY) and not _is_number(cell)]
    for path in (hostile / "out").rglob("*.json*"):
        for line in path.read_bytes().decode("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_bytes()]:
            json.loads(line)
    for path in (*(hostile / "out").rglob("*.tex"), *(hostile / "out").rglob("*.md")):
        assert {sign for sign in path.read_text("utf-8") if not sign.isprintable()} == {"\n"}


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.real("chromium")
@pytest.mark.asyncio(loop_scope="module")
async def test_no_answer_of_a_run_ever_runs_in_its_page(written: Path, browser: Browser) -> None:
    async with opened(browser, written) as page:
        for number in range(await rows(page)):
            await page.keyboard.press("j")
            await page.wait_for_selector(".turn")
            await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            found = await page.evaluate(f"[window.hacked, document.querySelectorAll('#reader :is({ACTIVE})').length]")
            assert found == [None, 0], number

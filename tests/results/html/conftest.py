"""Pages with many dialogues, and with every figure."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from turntide.datasets.tide.record import Plan, PlannedSamples
from turntide.datasets.tide.samples import KINDS
from turntide.results.enterprisemem.report import report
from turntide.results.html.figures import panels_markup
from turntide.results.html.page import page
from turntide.results.reading import open_run
from turntide.results.spending import Spent, cost
from turntide.results.table import Table
from turntide.results.tide.dialogues import Cell, Dialogues
from turntide.results.tide.figures import figures as tide_figures
from turntide.results.tide.report import tables as tide_tables

from ...support.pages import dialogue, made, packed
from ...support.sweeps import Sweep, Talk, write
from ..tide.conftest import TRIPLETS
from ..tide.conftest import dialogue as tide_dialogue

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page


@asynccontextmanager
async def opened(browser: Browser, path: Path, width: int = 1280, **options: Any) -> AsyncGenerator[Page]:
    """Open a page and wait until its list stands; no error, no request and no dialog may have come when it closes."""
    page = await browser.new_page(viewport={"width": width, "height": 900}, **options)
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: trouble.append(message.text))
    page.on("request", lambda request: trouble.append(request.url) if request.url != path.as_uri() else None)
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    await page.goto(path.as_uri())
    await page.wait_for_selector("html[data-ready]")
    yield page
    assert not trouble
    await page.close()


async def rows(page: Page) -> int:
    return int((await page.inner_text("#count")).split()[0].replace(",", ""))


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with some dialogues under two conditions."""
    folder = tmp_path_factory.mktemp("page")
    names = [f"S-{number:03}" for number in range(60)]
    talks = [dialogue(name, 1 + place % 4, condition) for condition in ("A", "B") for place, name in enumerate(names)]
    (folder / "page.html").write_text(made(talks), encoding="utf-8")
    return folder / "page.html"


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every figure of both benchmarks, for up to seven models whose names are long."""
    folder = tmp_path_factory.mktemp("figures")
    models = [f"{provider}/some-model-{number}.5-pro@thinking" for number, provider in enumerate("abcdefg")]
    talks = [Talk(name="NW-2", turns=4), Talk(name="SEC-3", source="sec_edgar", turns=9)]
    sweep = Sweep(talks=talks, models=models[:4], conditions=("A", "B", "B_wm5", "C", "D"), told=told)
    ours = report([open_run(write(folder / "run", sweep))])
    figures = [*ours.figures, *tide_figures(tide(models))]
    content = page(replace(ours, figures=figures), {each.key: panels_markup(each) for each in figures}, packed([]), [])
    (folder / "page.html").write_text(content, encoding="utf-8")
    return folder / "page.html"


def told(model: str, condition: str, talk: Talk, turn: int) -> Mapping[str, Any]:
    """Let the models differ in how long they remember; all do alike at first."""
    right = turn == 1 or (condition != "A" and turn < 3 + len(condition) + ord(model[0]) % 3)
    return {"category": "correct" if right else "wrong_result"}


def tide(models: Sequence[str]) -> dict[str, Table]:
    """Return the tables of dialogues in which the first models are perfect and each later one misses more."""
    samples = [
        PlannedSamples(protocol=protocol, kind=kind, tier="basic", subtype=subtype, verdict=verdict, count=1)
        for protocol in ("f", "p")
        for kind in KINDS
        for _, subtype, verdict in TRIPLETS
        if (protocol, kind) != ("p", "drift")
    ]
    plan = Plan(samples=tuple(samples), changes=(), triplets=len(TRIPLETS), synthetic=True)
    cells: set[Cell] = {(model, each.protocol, each.kind) for model in models for each in samples}
    records = [
        tide_dialogue(model, protocol, kind, triplet, right[: 1 if kind == "chain" else 2], rho=("L1", "L2")[:asked])
        for place, model in enumerate(models)
        for _, protocol, kind in sorted(cell for cell in cells if cell[0] == model)
        for number, triplet in enumerate(TRIPLETS)
        for right, asked in [("++", 2) if number + place < 6 else ("+-", place % 3)]
    ]
    tables = {table.key: table for table in tide_tables(Dialogues(plan, models, frozenset(cells), 1, records))}
    spent = {(model, "f"): Spent(answers=10, input=10**place) for place, model in enumerate(models)}
    return {**tables, "cost": cost(spent, "protocol")}

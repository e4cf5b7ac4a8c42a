"""The page as text: what it may load, what it escapes, what it holds."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from turntide.adapters.base import Json
from turntide.engine.cli import main
from turntide.engine.folder.manifest import Manifest
from turntide.engine.folder.scorings import Draft
from turntide.engine.journal import scan
from turntide.results.enterprisemem.report import report
from turntide.results.enterprisemem.turns import CATEGORIES
from turntide.results.html.page import page as as_html
from turntide.results.reading import open_run
from turntide.results.table import Table

from ...support.pages import dialogue, made, packed, unpacked
from ...support.sweeps import Sweep, Talk, write

HOSTILE = '</script><script>hacked=1</script><img src=x onerror="hacked=1">\u202e'
SWEEP = Sweep(talks=[Talk(name="NW-1"), Talk(name="NW-2", turns=4)], models=("sim/one", "sim/two"))


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def bare(folder: Path, shuffled: int | None = None, sweep: Sweep = SWEEP) -> Path:
    """Return a run whose data are nowhere, and whose figures are few."""
    write(folder, sweep, shuffled=shuffled)
    held = Manifest.load(folder)
    replace(held, settings={"spec": {**held.settings["spec"], "options": {"data": "nowhere"}}}).save(folder)
    return folder


def test_only_our_own_script_and_style_are_allowed_by_their_hashes() -> None:
    html = made([dialogue("one")])
    for name in ("script", "style"):
        (content,) = re.findall(f"<{name}>(.*?)</{name}>", html, re.DOTALL)
        digest = b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src &#x27;sha256-{digest}&#x27;" in html
    assert "default-src &#x27;none&#x27;" in html


def test_nothing_is_loaded_from_anywhere() -> None:
    for _, attributes in Elements(made([dialogue("one")])).found:
        assert not attributes.keys() & {"src", "srcset", "data", "action", "style"}
        assert (attributes.get("href") or "#").startswith("#")


def test_foreign_text_is_never_markup_wherever_it_stands() -> None:
    table = Table(key="t", title=HOSTILE, columns=(HOSTILE,), rows=[[HOSTILE]], note=HOSTILE, source=HOSTILE)
    html = made(
        [dialogue(HOSTILE, answer=HOSTILE, condition=HOSTILE)],
        title=HOSTILE, marks={HOSTILE: HOSTILE}, facts={HOSTILE: HOSTILE}, warnings=[HOSTILE], tables=[table],
    )  # fmt: skip
    elements = Elements(html).found
    assert "img" not in [tag for tag, _ in elements]
    assert [attributes for tag, attributes in elements if tag == "script" and "type" not in attributes] == [{}]
    assert "\u202e" not in html


def test_a_run_without_its_data_shows_what_the_journal_has_and_says_so(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(bare(tmp_path / "run")), "--html", str(page)]) == 0
    html = page.read_text()
    assert "shown without their prompts and gold results" in html
    assert "data-0" in html


def rescored(run: Path, category: str, differs: list[str]) -> None:
    """Add a scoring in which every record has this category."""
    with Draft(run) as draft:
        for line in scan(run / "journal.jsonl"):
            if line["k"] == "record":
                draft.add({**line, "fields": {**line["fields"], "category": category}})
        draft.finish({"differs": list[Json](differs), "records": 0, "units": 0})


@pytest.mark.parametrize("differs", [[], ["experiment.databases: old → new"]], ids=["same_data", "other_data"])
def test_a_run_that_was_scored_again_shows_the_new_outcomes_and_says_so(tmp_path: Path, differs: list[str]) -> None:
    run, page = bare(tmp_path / "run"), tmp_path / "page.html"
    rescored(run, "runtime", differs)
    for scoring, outcomes in ((["--scoring", "0"], ["correct"]), ([], ["runtime"])):
        assert main(["report", str(run), "--html", str(page), *scoring]) == 0
        html = page.read_text()
        index = unpacked(re.findall(r'id="data-index">([^<]*)<', html)[0])
        assert [index["words"][word] for word in {word for row in index["rows"] for word in row[5]}] == outcomes
        assert ("Results and outcomes are those of scoring number 1" in html) is (outcomes == ["runtime"])
        assert ("scoring 1 is over other data than the run" in html) is (bool(differs) and not scoring)


def test_every_category_but_correct_is_wrong_and_the_list_follows_models_and_conditions(tmp_path: Path) -> None:
    categories = iter(CATEGORIES * 3)

    def told(model: str, condition: str, talk: Talk, turn: int) -> Mapping[str, str]:
        return {"category": next(categories)}

    sweep = replace(SWEEP, models=("sim/two", "sim/one"), conditions=("C", "A"), told=told)
    run, page = bare(tmp_path / "run", sweep=sweep), tmp_path / "page.html"
    assert main(["report", str(run), "--html", str(page)]) == 0
    index = unpacked(re.findall(r'id="data-index">([^<]*)<', page.read_text())[0])
    kinds = dict(zip(index["words"], index["kinds"], strict=True))
    assert {kinds[category] for category in CATEGORIES if category != "correct"} == {"wrong"}
    assert [unit.rpartition("/NW")[0] for unit, *_ in index["rows"]] == [
        f"sim/{model}/{condition}" for model in ("two", "one") for condition in "AC" for _ in SWEEP.talks
    ]


@pytest.mark.parametrize("count", [1, 2, 6, 7])
def test_the_summary_tells_up_to_six_models_apart_and_says_where_it_does_not(tmp_path: Path, count: int) -> None:
    models = [f"sim/model-{number}" for number in range(count)]
    html = as_html(report([open_run(write(tmp_path, replace(SWEEP, models=models)))]), {}, packed([]), [])
    (summary,) = re.findall('<table class="headline">.*?</table>', html)
    assert ("all models, with" in summary) is (count > 6)
    for model in models:
        times = 0 if count > 6 else 1 if count == 1 else len(SWEEP.conditions)  # one model: in the caption
        assert len(re.findall(f"{model}[<,]", summary)) == times


def test_the_order_of_arrival_leaves_no_trace(tmp_path: Path) -> None:
    pages: list[bytes] = []
    for seed in (1, 2):
        run, page = bare(tmp_path / f"run{seed}", seed), tmp_path / f"{seed}.html"
        assert main(["report", str(run), "--html", str(page)]) == 0
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]


def test_operations_come_on_request_alone(tmp_path: Path) -> None:
    run, page = bare(tmp_path / "run"), tmp_path / "page.html"
    for words, there in (([], False), (["--operations"], True)):
        assert main(["report", str(run), "--html", str(page), *words]) == 0
        assert ("Operations: dialogues and calls" in page.read_text()) is there


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(tmp_path / "run", SWEEP)
    assert main(["report", str(run), "--html", str(tmp_path / "nowhere" / "page.html")]) == 2
    assert "there is no folder" in capsys.readouterr().err

"""The page in a real headless Chromium: five people with keyboards, a finger, and hostile samples."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from turntide.engine.cli import main
from turntide.results.tide.audit.content import Said
from turntide.results.tide.audit.tasks import Task, in_order

from ....support.pages import HOSTILE
from .browsing import at, opened, saved, served
from .conftest import PEOPLE, Begin, made

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.real("chromium")]


def key_of(name: str, task: Task, item: str) -> str:
    """Ana, Ben and Cleo accept everything; Dan no coherence; Eve no sample of the first triplet."""
    strict = (name == "dan" and item == "coherence") or (name == "eve" and task.id.startswith("shop-0"))
    return "n" if strict else "y"


async def annotate(page: Page, name: str, tasks: Sequence[Task]) -> None:
    for number, task in enumerate(tasks):
        word = f"Calibration {number + 1} " if task.calibration else f"Sample {number - 2} "
        await at(page, word)
        await page.keyboard.type("".join(key_of(name, task, item.key) for item in task.items))
        await page.keyboard.press("Enter")
    await at(page, "all finished")
    await saved(page)


async def test_five_annotators_at_once_give_the_report_that_follows_from_their_keys(
    browser: Browser, begin: Begin, capsys: pytest.CaptureFixture[str]
) -> None:
    store = begin(count=2, calibration=1)

    async def work(name: str, url: str) -> None:
        async with opened(browser, url) as page:
            await annotate(page, name, in_order(store.tasks, name, store.plan.seed))

    async with served(store) as urls:
        await asyncio.gather(*(work(name, url) for name, url in urls.items()))
    assert {name: sum(map(len, store.answers(name).values())) for name in PEOPLE} == dict.fromkeys(PEOPLE, 45)
    assert main(["tide", "audit", "report", str(store.path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    assert list(report["marks"]) == ["SYNTHETIC"]
    drawn = {task.id.split(":")[0] for task in store.tasks if not task.calibration}
    first = "shop-0" in drawn
    rows = {row[0]: row[1:] for row in report["tables"][0]["rows"]}
    assert [rows[split][1]["hits"] for split in ("Chain-only", "Drift-only", "Joint", "Overall")] == [2, 2, 2, 6]
    assert [rows[split][2]["hits"] for split in ("Chain-only", "Drift-only", "Joint", "Overall")] == [
        2 - first, 2 - first, 0, 4 - 2 * first,
    ]  # fmt: skip


async def test_the_address_loses_its_token_and_the_tab_keeps_it(browser: Browser, begin: Begin) -> None:
    async with served(begin()) as urls, opened(browser, urls["ana"]) as page:
        assert page.url == urls["ana"].partition("#")[0]
        await page.reload()
        await at(page, "Calibration 1 of 3")
        assert await page.inner_text("#who") == "ana"
        await page.goto(urls["ben"])
        await page.locator("#who", has_text="ben").wait_for()
        assert page.url == urls["ana"].partition("#")[0]


async def test_a_page_without_a_token_says_where_to_get_one(browser: Browser, begin: Begin) -> None:
    async with served(begin()) as urls:
        page = await browser.new_page()
        await page.goto(urls["ana"].partition("#")[0])
        await page.locator("#notice", has_text="Open the address that was printed for you").wait_for()
        assert not await page.is_visible("#desk")
        await page.close()


async def test_no_key_changes_a_finished_checklist_unless_an_item_has_the_focus(browser: Browser, begin: Begin) -> None:
    async with served(store := begin()) as urls, opened(browser, urls["ana"]) as page:
        await page.keyboard.type("yyyynnn")
        assert await page.locator("[aria-pressed=true]", has_text="Yes").count() == 4
        await page.keyboard.type("3N")
        await at(page, "Calibration 1 of 3 · 1 finished")
        await saved(page)
    assert [value for _, value in sorted(store.answers("ana")[store.tasks[0].id].items())] == [
        "yes",
        "yes",
        "no",
        "yes",
    ]


async def test_without_a_mouse_or_a_shortcut_every_control_is_reached_and_named(browser: Browser, begin: Begin) -> None:
    async with served(begin()) as urls, opened(browser, urls["ana"]) as page:
        names: list[str] = []
        while not names or not names[-1].startswith("Next "):
            await page.keyboard.press("Tab")
            names.append(await page.evaluate("document.activeElement.innerText || document.activeElement.id"))
        assert [name.split()[0] for name in names if name.split()[:1] in (["Yes"], ["No"])] == ["Yes", "No"] * 4
        group = page.get_by_role("group", name="Might a real user mean either option of L1?")
        await group.get_by_role("button", name="Yes").focus()
        await page.keyboard.press("Space")
        assert await group.get_by_role("button", name="Yes", pressed=True).count() == 1
        assert await page.get_by_role("textbox", name="Comment").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_at_360_pixels_nothing_sticks_out_and_a_finger_is_enough(
    browser: Browser, begin: Begin, scheme: str
) -> None:
    async with served(begin()) as urls, opened(browser, urls["ana"], 360, scheme=scheme) as page:
        for place in ("1", "2", "3"):
            await at(page, f"Calibration {place} of 3")
            assert await page.evaluate("document.documentElement.scrollWidth") == 360
            for group in await page.locator(".item").all():
                await group.get_by_role("button", name="Yes").click()
            await page.get_by_role("button", name="Next", exact=False).last.click()
        await at(page, "Sample 1 of 6 · 0 finished")


async def test_no_sample_ever_runs_and_each_is_read_as_it_is(browser: Browser, begin: Begin) -> None:
    texts = [text.replace("\ud800", "?")[:2000] for text in HOSTILE]
    one = made(1)[0]
    triplets = [
        structs.replace(
            one,
            id=f"t{place}",
            rewritten_evidence=text,
            stages=(
                structs.replace(
                    one.stages[0], ambiguous=text, sql=text,
                    layers=tuple(structs.replace(layer, term=text, question=text, answer=text, alternative=text)
                                 for layer in one.stages[0].layers),
                ),
                structs.replace(one.stages[1], utterance=text, sql=f"{text} "),
            ),
        )
        for place, text in enumerate(texts)
    ]  # fmt: skip
    store = begin(count=len(texts), calibration=0, people=[texts[1]], triplets=triplets)
    tasks = in_order(store.tasks, texts[1], 0)
    async with served(store) as urls, opened(browser, urls[texts[1]]) as page:
        assert await page.inner_text("#who") == texts[1]
        for number in range(1, 3 * len(texts) + 1):
            await at(page, f"Sample {number} of")
            said = tasks[number - 1].parts[0]
            assert isinstance(said, Said)
            assert await page.locator(".said").first.text_content() == said.text
            await page.keyboard.press("ArrowRight")
        assert await page.evaluate("window.hacked") is None
        assert await page.locator("#desk img, #desk iframe, #desk style, #desk script, #desk svg, #desk a").count() == 0
        assert await page.evaluate("document.documentElement.scrollWidth") == 1280

"""The page in a real headless Chromium: what a person does with it, and what hostile answers cannot do."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from turntide.results.table import Rate, Table

from ...support.pages import HOSTILE, dialogue, made
from .conftest import opened, rows

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.real("chromium")]

CUT = "\n... cut here; the journal has all 200,004 characters"


async def test_filters_leave_the_dialogues_that_match_all_of_them(browser: Browser, plain: Path) -> None:
    async with opened(browser, plain) as page:
        assert await rows(page) == 120
        await page.select_option("select[name=condition]", "A")
        assert await rows(page) == 60
        await page.select_option("select[name=outcome]", "wrong_result")
        assert await rows(page) == 45
        await page.fill("input[name=find]", "s-003")
        assert await rows(page) == 1


async def test_an_opened_dialogue_shows_all_that_passed(browser: Browser, plain: Path) -> None:
    async with opened(browser, plain) as page:
        await page.click("text=S-003")
        last = page.locator(".turn").nth(3)
        shown = await last.inner_text()
        for part in ("Turn 4", "✗ wrong_result", "How many? (4)", "Memory that was shown", "Turn 3: SELECT 1",
                     "SQL that was run", "SELECT 1 -- gold", "1,200 tokens in", "✗ strict", "two", "NULL"):  # fmt: skip
            assert part in shown
        await last.locator("summary", has_text="The whole prompt").click()
        assert "CREATE TABLE Orders" in await last.inner_text()
        await last.locator("summary", has_text="fallback").click()
        assert "SELECT 3 -- fallback" in await last.inner_text()
        await last.locator("summary", has_text="Reasoning").click()
        assert "because" in await last.inner_text()


async def test_the_keyboard_is_enough(browser: Browser, plain: Path) -> None:
    async with opened(browser, plain) as page:
        title = page.locator("#reader h3")
        for keys, name in (("j", "S-000"), ("jj", "S-002"), ("k", "S-001")):
            await page.keyboard.type(keys)
            await page.locator("#reader h3", has_text=name).wait_for()
        await page.keyboard.press("n")
        assert await page.evaluate("document.activeElement.querySelector('h4').textContent") == "Turn 1✓ correct"
        await page.keyboard.type("/059")
        assert await rows(page) == 2
        assert "S-001" in await title.inner_text()
        await page.keyboard.press("Escape")
        await page.keyboard.press("j")
        await page.locator("#reader h3", has_text="S-059").wait_for()


async def test_an_address_names_a_dialogue(browser: Browser, plain: Path) -> None:
    async with opened(browser, plain) as page:
        await page.click("text=S-003")
        await page.wait_for_selector(".turn")
        address = page.url
    page = await browser.new_page()
    await page.goto(address)
    await page.wait_for_selector(".turn")
    assert "S-003" in await page.inner_text("#reader h3")
    await page.close()


async def test_dark_and_light_follow_the_system_and_the_switch(browser: Browser, plain: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    found: list[str] = []
    for scheme in ("light", "dark"):
        async with opened(browser, plain, color_scheme=scheme) as page:
            found.append(await page.evaluate(paper))
            await page.click("#theme")
            found.append(await page.evaluate(paper))
    light, to_dark, dark, to_light = found
    assert (light, dark) == (to_light, to_dark)
    assert light != dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_at_360_pixels_nothing_sticks_out_and_one_thing_is_read_at_a_time(
    browser: Browser, plain: Path, scheme: str
) -> None:
    async with opened(browser, plain, 360, color_scheme=scheme) as page:
        assert await page.evaluate("document.documentElement.scrollWidth") == 360
        assert not await page.is_visible("#reader")
        await page.click("text=S-003")
        await page.wait_for_selector(".turn")
        assert await page.evaluate("document.documentElement.scrollWidth") == 360
        assert not await page.is_visible("#list")
        await page.click("text=← List")
        assert await page.is_visible("#list")


@pytest.mark.parametrize("length", [59, 168])
async def test_at_360_pixels_no_name_makes_the_page_scroll_sideways(
    browser: Browser, tmp_path: Path, length: int
) -> None:
    models = [f"sim/{end:x<{length}}" for end in ("one", "two")]
    rate = Rate(hits=1, scored=2, planned=2, low=0.1, high=0.9)
    for headline in (dict.fromkeys(models, rate), {models[0]: rate}):
        path = tmp_path / "long.html"
        talks = [dialogue(f"S-{model[4:]}", model=model) for model in models]
        path.write_text(made(talks, headline={f"EX% at {models[0]}": headline}), encoding="utf-8")
        async with opened(browser, path, 360) as page:
            assert await page.evaluate("document.documentElement.scrollWidth") == 360
            await page.locator(".row").first.click()
            await page.wait_for_selector(".turn")
            assert await page.evaluate("document.documentElement.scrollWidth") == 360


async def test_bars_of_the_summary_are_all_drawn_to_one_scale(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "bars.html"
    rates = {f"sim/{hits}": Rate(hits=hits, scored=9, planned=99, low=0, high=hits / 9) for hits in (0, 9)}
    path.write_text(made([dialogue("S")], headline={"EX% at A": rates}), encoding="utf-8")
    for width in (1280, 360):
        async with opened(browser, path, width) as page:
            found = await page.evaluate("[...document.querySelectorAll('.bar')].map((bar) => bar.clientWidth)")
            assert len(found) == 2
            assert len({*found}) == 1
            assert found[0] > 100


async def test_whatever_scores_nothing_looks_wrong_and_a_dash_is_what_is_not_scored(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "signs.html"
    signs = {"wrong_result": "✗", "runtime": "✗", "preamble": "✗", "turn limit": "!", "simulator error": "–"}
    path.write_text(made([dialogue(last, 2, last=last) for last in signs]), encoding="utf-8")
    async with opened(browser, path) as page:
        assert await page.locator(".signs").all_inner_texts() == [f"✓{sign}" for sign in signs.values()]
        assert await page.locator("#legend > span").all_inner_texts() == [
            "✓ right: correct",
            "✗ wrong: preamble, runtime, wrong_result",
            "! ended early: turn limit",
            "– not scored: simulator error",
        ]


async def test_conditions_stand_in_the_benchmarks_order_in_the_list_and_its_filter(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "order.html"
    talks = [dialogue("S", condition=condition) for condition in ("C", "D", "A", "B", "B_wm5")]
    path.write_text(made(talks), encoding="utf-8")
    async with opened(browser, path) as page:
        options = await page.locator("select[name=condition] option").all_inner_texts()
        assert options == ["all", "A", "B", "B_wm5", "C", "D"]
        shown = await page.locator(".row .where").all_inner_texts()
        assert [where.partition(" ")[0] for where in shown] == options[1:]


async def test_no_answer_ever_runs_and_each_is_read_as_it_is(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    talks = [dialogue(f"{text[:60]} {place}", 1, answer=text, question=text) for place, text in enumerate(HOSTILE)]
    table = Table(key="t", title=HOSTILE[0], columns=(HOSTILE[1],), rows=[[HOSTILE[2]]], note=HOSTILE[5])
    path.write_bytes(made(talks, title=HOSTILE[0], warnings=HOSTILE[:7], tables=[table]).encode("utf-8", "replace"))
    async with opened(browser, path) as page:
        for text in HOSTILE:
            await page.keyboard.press("j")
            await page.locator("#reader h3", has_text=f" {HOSTILE.index(text)}/0").wait_for()
            shown = await page.locator(".turn p.foreign").text_content()
            assert shown == f"{text} (1)"[:100_000] + CUT * (len(text) > 100_000)
            await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert await page.evaluate("window.hacked") is None
        assert await page.locator("#reader img, #reader iframe, #reader style, #reader script").count() == 0


async def test_a_page_of_35_000_turns_opens_in_three_seconds_and_moves_at_once(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "large.html"
    kinds = [dialogue("S", turns) for turns in range(1, 10)]
    talks = [replace(kinds[number % 9], unit=f"S-{number:05}") for number in range(7000)]
    path.write_text(made(talks), encoding="utf-8")
    assert path.stat().st_size < 60e6
    began = time.monotonic()
    async with opened(browser, path) as page:
        assert time.monotonic() - began < 3
        assert await rows(page) == 7000
        assert await page.locator(".row").count() < 60
        began = time.monotonic()
        await page.fill("input[name=find]", "S-06999")
        await page.locator(".row").first.click()
        await page.wait_for_selector(".turn")
        assert time.monotonic() - began < 2


OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll(".panels svg")) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    for (const [name, box] of texts) {
      const sides = [frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom];
      if (Math.max(...sides) > 1)
        found.push(`${svg.getAttribute("aria-label")}: ${name} is cut off`);
    }
    texts.forEach(([one, a], place) => texts.slice(place + 1).forEach(([other, b]) => {
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (width > 1 && height > 3) found.push(`${svg.getAttribute("aria-label")}: ${one} lies on ${other}`);
    }));
  }
  return found;
}"""


async def test_in_no_figure_does_a_name_lie_on_another_or_stick_out(browser: Browser, drawn: Path) -> None:
    for width in (1280, 360):
        async with opened(browser, drawn, width) as page:
            assert await page.locator(".panels svg").count() > 20
            assert await page.evaluate("document.documentElement.scrollWidth") == width
            assert await page.evaluate(OVERLAPS) == []

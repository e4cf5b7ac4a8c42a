"""What the page in a real Chromium saves: for who comes back, in two tabs, and past a server that is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .browsing import at, opened, saved, served
from .conftest import PEOPLE, Begin

if TYPE_CHECKING:
    from playwright.async_api import Browser, Route

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.real("chromium")]


async def test_one_goes_on_exactly_where_one_stopped(browser: Browser, begin: Begin) -> None:
    store = begin()
    async with served(store) as urls:
        async with opened(browser, urls["ana"]) as page:
            await page.keyboard.press("ArrowRight")
            await page.keyboard.press("ArrowRight")
            await at(page, "Calibration 3 of 3")
            await page.keyboard.type("yn")
            await page.keyboard.type("cNot so plain.")
            await page.keyboard.press("Escape")
            await page.keyboard.press("2")
            assert await page.evaluate("document.activeElement.dataset.value") == "no"
            await page.keyboard.type("y")
            await saved(page)
        async with opened(browser, urls["ana"]) as page:
            await at(page, "Calibration 3 of 3")
            pressed = page.locator("[aria-pressed=true]")
            assert await pressed.count() == 2
            assert await page.input_value("#comment") == "Not so plain."
            await page.keyboard.press("g")
            await at(page, "Sample 1 of 6 · 0 finished")
            await page.keyboard.press("ArrowLeft")
            await at(page, "Calibration 3 of 3")
    joint = store.tasks[2]
    assert store.answers("ana") == {joint.id: {"underspecified": "yes", "options_L1": "yes"}}


async def test_nothing_is_called_saved_before_anything_was_said(browser: Browser, begin: Begin) -> None:
    async with served(begin()) as urls, opened(browser, urls["ana"]) as page:
        async with page.expect_response("**/api/place"):
            await page.keyboard.press("ArrowRight")
        await at(page, "Calibration 2 of 3 · 0 finished")
        await page.evaluate("call('GET', 'api/audit')")
        assert await page.text_content("#saved") == ""
        await page.keyboard.type("y")
        await saved(page)


async def test_what_one_tab_says_the_other_shows_when_it_is_looked_at_or_comes_back(
    browser: Browser, begin: Begin
) -> None:
    async with served(begin()) as urls, opened(browser, urls["ana"]) as one, opened(browser, urls["ana"]) as other:
        for page in (one, other):
            await page.keyboard.type("ynnycMine.")
            await saved(page)
        await other.keyboard.press("Escape")
        await other.keyboard.type("1n")
        await other.fill("#comment", "No, mine.")
        await saved(other)
        assert await one.input_value("#comment") == "Mine."
        await one.evaluate("dispatchEvent(new Event('focus'))")
        await one.locator("#item-0 ~ .choices [aria-pressed=true]", has_text="No").wait_for()
        assert await one.input_value("#comment") == "No, mine."
        assert await one.evaluate("document.activeElement.id") == "comment"

        await one.keyboard.press("Escape")
        await one.keyboard.press("ArrowRight")
        await at(one, "Calibration 2 of 3 · 1 finished")
        await other.keyboard.press("Escape")
        await other.keyboard.type("1y")
        await saved(other)
        await one.keyboard.press("ArrowLeft")
        await one.locator("#item-0 ~ .choices [aria-pressed=true]", has_text="Yes").wait_for()


async def test_what_is_not_saved_yet_is_not_replaced_by_what_the_server_has(browser: Browser, begin: Begin) -> None:
    async with served(begin()) as urls, opened(browser, urls["ana"]) as page:
        held = asyncio.Event()

        async def hold(route: Route) -> None:
            await held.wait()
            await route.continue_()

        await page.route("**/answers/*", hold)
        await page.keyboard.type("n")
        await page.evaluate("dispatchEvent(new Event('focus'))")
        await page.evaluate("call('GET', 'api/audit')")
        assert await page.locator("[aria-pressed=true]", has_text="No").count() == 1
        held.set()
        await saved(page)
        await page.evaluate("dispatchEvent(new Event('focus'))")
        await page.evaluate("call('GET', 'api/audit')")
        assert await page.locator("[aria-pressed=true]", has_text="No").count() == 1


def start(path: Path, port: int) -> tuple[subprocess.Popen[str], dict[str, str]]:
    """Start the command; return it with everyone's address."""
    words = [sys.executable, "-m", "turntide.engine.cli", "tide", "audit", "serve", str(path), "--port", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = (process.stdout.readline().split() for _ in PEOPLE)
    return process, {name: url for name, url in lines}  # noqa: C416


async def test_a_killed_server_loses_nothing_that_was_acknowledged_and_the_page_goes_on(
    browser: Browser, begin: Begin
) -> None:
    store = begin()
    process, urls = await asyncio.to_thread(start, store.path, 0)
    port = int(urls["ana"].split(":")[2].split("/")[0])
    async with opened(browser, urls["ana"]) as page:
        await page.keyboard.type("yy")
        await saved(page)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert store.answers("ana")[store.tasks[0].id] == {"underspecified": "yes", "options_L1": "yes"}
        await page.keyboard.type("n")
        await page.locator("#saved.unsaved", has_text="Not saved yet").wait_for()
        process, again = await asyncio.to_thread(start, store.path, port)
        assert again == urls
        await saved(page)
        assert store.answers("ana")[store.tasks[0].id]["options_L2"] == "no"
        process.terminate()
        assert (await asyncio.to_thread(process.communicate, timeout=30), process.returncode) == (("", None), 0)

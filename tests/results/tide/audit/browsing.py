"""An annotator's page in a real headless Chromium."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from turntide.results.tide.audit.server import serve
from turntide.results.tide.audit.store import Store

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Request


@asynccontextmanager
async def served(store: Store) -> AsyncGenerator[dict[str, str]]:
    """Serve an audit and yield everyone's address."""
    async with serve(store, "127.0.0.1", 0) as origin:
        yield {each.name: f"{origin}/#{each.token}" for each in store.annotators()}


@asynccontextmanager
async def opened(browser: Browser, url: str, width: int = 1280, *, scheme: str = "light") -> AsyncGenerator[Page]:
    """Open an annotator's address; no error, no request to elsewhere and no dialog may have come when it closes."""
    page = await browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # pyright: ignore[reportArgumentType]
    origin, _, token = url.partition("#")
    trouble: list[str] = []

    def check(request: Request) -> None:
        if not request.url.startswith(origin) or token in request.url or request.headers.get("referer"):
            trouble.append(f"{request.url} {request.headers}")

    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: None if "net::ERR_" in message.text else trouble.append(message.text))
    page.on("request", check)
    await page.goto(url)
    await page.wait_for_selector("html[data-ready]")
    yield page
    assert not trouble
    await page.close()


async def at(page: Page, place: str) -> None:
    await page.locator("#count", has_text=place).wait_for()


async def saved(page: Page) -> None:
    await page.locator("#saved:not(.unsaved)", has_text="Saved").wait_for()

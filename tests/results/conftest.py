"""A real browser."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import pytest_asyncio

from ..conftest import missing

if TYPE_CHECKING:
    from playwright.async_api import Browser

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncGenerator[Browser]:
    """Headless Chromium; skips the test that asks for it where there is none."""
    program = os.environ.get("TURNTIDE_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if importlib.util.find_spec("playwright") is None:
        missing("playwright", "the package is not installed")
    if program is None:
        missing("chromium", "no such program is on the PATH (TURNTIDE_CHROMIUM names another)")
    from playwright.async_api import async_playwright

    async with async_playwright() as player:
        # CI is root, for whom Chromium has no sandbox; the pages are our own.
        browser = await player.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        await browser.close()

"""A small database, and a pool with bounds that are quickly hit."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from turntide.engine.sql.bounds import SqlLimits
from turntide.engine.sql.pool import SqlPool

from ...support.hostile import make_shop

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

STUCK = "SELECT instr(hex(zeroblob(4000000)), hex(zeroblob(2000000)) || '1')"
"""One operation of seconds, which no interrupt reaches."""

LIMITS = SqlLimits(rows=20_000, bytes=8_000_000, memory=48 * 2**20)


async def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until `condition` holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one table `item (id, name, price)` of 400 rows, alone in its folder."""
    return make_shop(tmp_path_factory.mktemp("database") / "shop.sqlite")


@pytest.fixture(scope="session")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where SQLite in the workers of `pool` would put its temporary files."""
    return tmp_path_factory.mktemp("spare")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pool(spare: Path) -> AsyncIterator[SqlPool]:
    """A pool of one worker for all tests that leave it usable; what they execute, they execute alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLITE_TMPDIR", str(spare))
        opened = SqlPool(workers=1, limits=LIMITS)
        await opened.__aenter__()
    yield opened
    await opened.__aexit__()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pair() -> AsyncIterator[SqlPool]:
    """A pool of two workers, likewise."""
    async with SqlPool(workers=2, limits=LIMITS) as pool:
        yield pool


@pytest.fixture
def copies(database: Path, tmp_path: Path) -> Callable[..., list[Path]]:
    """Copy the database into the test's folder under the given names."""

    def copy(*names: str) -> list[Path]:
        paths = [tmp_path / name for name in names]
        for path in paths:
            path.write_bytes(database.read_bytes())
        return paths

    return copy


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Callable[[str], int]]:
    """Start a Python script without a `__main__` guard in its own folder and return its process id."""
    started: list[subprocess.Popen[bytes]] = []

    def start(source: str) -> int:
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(source))
        started.append(subprocess.Popen([sys.executable, str(path)], cwd=tmp_path))
        return started[-1].pid

    yield start
    for process in started:
        process.kill()
        process.wait()

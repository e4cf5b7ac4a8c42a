"""Processes come and go with the pool, however it or its parent ends."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from turntide.engine.sql.outcome import Execution
from turntide.engine.sql.pool import SERVERS, SqlPool
from turntide.engine.sql.processes import SqlPoolError

from ...support.processes import becomes_true, children_of, descendants, is_alive
from .conftest import ENDLESS, LIMITS, STUCK, eventually


async def test_a_closed_pool_leaves_no_process_thread_or_descriptor(database: Path) -> None:
    def held() -> tuple[set[int], int, int]:
        return descendants(os.getpid()), threading.active_count(), len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    before = held()
    async with SqlPool(workers=2, limits=LIMITS) as pool:
        statements = (ENDLESS, STUCK, "SELECT 1")
        waiting = [asyncio.ensure_future(pool.execute(database, sql, deadline=60)) for sql in statements]
        await eventually(lambda: pool.statistics().busy == 2)
    results: list[Execution | BaseException] = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [SqlPoolError] * 3
    await asyncio.sleep(0)
    assert held() == before
    with pytest.raises(SqlPoolError):
        await pool.execute(database, "SELECT 1", deadline=1)


BUSY = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000000) SELECT count(*) FROM c"
"""A statement of about half a second."""


async def test_a_lost_fork_server_is_replaced_and_what_it_was_busy_with_is_executed_again(database: Path) -> None:
    others = children_of({os.getpid()})[0]
    async with SqlPool(workers=1, limits=LIMITS) as pool:
        (worker,) = pool.statistics().workers
        (server,) = children_of({os.getpid()})[0] - others
        asked = [asyncio.create_task(pool.execute(database, f"{BUSY} -- {n}", deadline=60)) for n in range(2)]
        await eventually(lambda: pool.statistics().busy == 1)
        os.kill(server, signal.SIGKILL)
        results = await asyncio.gather(*asked)
        assert [(result.outcome.excerpt, result.doubtful) for result in results] == [(((2_000_000,),), False)] * 2
        assert pool.statistics().lost == 0
        assert becomes_true(lambda: not is_alive(worker))
    assert becomes_true(lambda: children_of({os.getpid()})[0] == others)


async def test_a_fork_server_that_is_lost_again_and_again_fails_everybody_in_words(database: Path) -> None:
    others = children_of({os.getpid()})[0]
    async with SqlPool(workers=1, limits=LIMITS) as pool:
        asked = [asyncio.create_task(pool.execute(database, f"{ENDLESS} -- {n}", deadline=60)) for n in range(3)]
        for lost in range(SERVERS + 1):
            await eventually(lambda lost=lost: pool.statistics().executed == lost + 1)
            (server,) = children_of({os.getpid()})[0] - others
            os.kill(server, signal.SIGKILL)
        results: list[Execution | BaseException] = await asyncio.gather(*asked, return_exceptions=True)
        assert [str(result) for result in results] == ["the fork server of the SQL workers was lost 4 times"] * 3
    assert becomes_true(lambda: children_of({os.getpid()})[0] == others)


def test_workers_end_when_their_parent_is_killed_in_the_middle_of_a_query(
    database: Path, script: Callable[[str], int], tmp_path: Path
) -> None:
    noted = tmp_path / "noted"
    pid = script(
        f"""
        import asyncio
        from pathlib import Path
        from turntide.engine.sql.pool import SqlPool

        async def main():
            async with SqlPool(workers=2) as pool:
                asks = [pool.execute(Path({str(database)!r}), sql, deadline=60) for sql in ({ENDLESS!r}, {STUCK!r})]
                asks = [asyncio.ensure_future(ask) for ask in asks]
                while pool.statistics().busy < 2:
                    await asyncio.sleep(0.01)
                Path({str(noted)!r}).touch()
                await asyncio.gather(*asks)

        asyncio.run(main())
        """
    )
    assert becomes_true(noted.exists, 20)
    started = descendants(pid)
    assert len(started) == 3
    os.kill(pid, signal.SIGKILL)
    assert becomes_true(lambda: not any(map(is_alive, started)))


def test_a_plain_script_is_not_run_again_by_its_workers(
    database: Path, script: Callable[[str], int], tmp_path: Path
) -> None:
    noted = tmp_path / "noted"
    script(
        f"""
        import asyncio
        from pathlib import Path
        from turntide.engine.sql.pool import SqlPool

        def note(word):
            with Path({str(noted)!r}).open("a") as file:
                file.write(word)

        note("run ")

        async def main():
            async with SqlPool(workers=2) as pool:
                execution = await pool.execute(Path({str(database)!r}), "SELECT 1", deadline=5)
                note(execution.outcome.status)

        asyncio.run(main())
        """
    )
    assert becomes_true(lambda: noted.exists() and noted.read_text() == "run ok", 20)

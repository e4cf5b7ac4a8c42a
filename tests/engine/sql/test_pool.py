"""The pool: what it promises while statements and workers misbehave."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.engine.sql.pool import GRACE, SqlPool

from .conftest import ENDLESS, STUCK, eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _best_of(attempts: int, measure: Callable[[int], Awaitable[float]]) -> float:
    """Return the least of several measurements: what is due when nobody else keeps the machine busy."""
    return min([await measure(attempt) for attempt in range(attempts)])


async def test_a_killed_statement_is_answered_in_time(database: Path, pool: SqlPool) -> None:
    killed = pool.statistics().killed

    async def overshoot(attempt: int) -> float:
        start = time.perf_counter()
        execution = await pool.execute(database, f"{STUCK} -- in time {attempt}", deadline=0.1)
        assert (execution.outcome.status, execution.doubtful) == ("timeout", True)
        return time.perf_counter() - start - 0.1 - GRACE

    assert await _best_of(3, overshoot) < 0.05
    assert pool.statistics().killed == killed + 3


async def test_a_killed_worker_is_replaced_within_250_ms(database: Path, pool: SqlPool) -> None:
    async def replacement(attempt: int) -> float:
        await pool.execute(database, f"{STUCK} -- replaced {attempt}", deadline=0.05)
        start = time.perf_counter()
        execution = await pool.execute(database, f"SELECT {attempt}, 'replaced'", deadline=5)
        assert execution.outcome.excerpt == ((attempt, "replaced"),)
        return time.perf_counter() - start

    assert await _best_of(3, replacement) < 0.25


async def test_a_time_out_never_hits_another_statement(database: Path, pair: SqlPool) -> None:
    chance = random.Random(5)
    killed = pair.statistics().killed

    async def one(number: int) -> None:
        if chance.random() < 0.15:
            execution = await pair.execute(database, f"{ENDLESS} -- {number}", deadline=0.05)
            assert execution.outcome.status == "timeout"
        else:
            execution = await pair.execute(database, f"SELECT {number}, sum(id) FROM item", deadline=5)
            assert execution.outcome.excerpt == ((number, 79_800),)

    await asyncio.gather(*map(one, range(150)))
    assert pair.statistics().killed <= killed + 2  # nearly all are stopped by their own connections


async def test_the_loop_is_never_held_up(database: Path, pair: SqlPool) -> None:
    async def longest_pause(attempt: int) -> float:
        heavy = [
            *(pair.execute(database, f"{ENDLESS} -- pause {attempt}.{n}", deadline=0.15) for n in range(2)),
            pair.execute(database, f"{STUCK} -- pause {attempt}", deadline=0.1),
            pair.execute(database, f"SELECT length('{'x' * 900_000}{attempt}')", deadline=5),
            pair.execute(database, f"SELECT id, name, {attempt} FROM item", deadline=5),
        ]
        together = asyncio.gather(*heavy)
        longest, last = 0.0, time.perf_counter()
        while not together.done():
            await asyncio.sleep(0.002)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        await together
        return longest

    assert await _best_of(3, longest_pause) < 0.05


async def test_statements_are_served_in_the_order_they_came(database: Path, pool: SqlPool) -> None:
    ended: list[int] = []

    async def one(number: int) -> None:
        await pool.execute(database, f"SELECT {number}, 'in order'", deadline=5)
        ended.append(number)

    await asyncio.gather(*map(one, range(100)))
    assert ended == list(range(100))


async def test_equal_statements_are_executed_once_and_shared(database: Path, pair: SqlPool) -> None:
    before = pair.statistics()
    sql = "SELECT sum(price) FROM item"
    together = await asyncio.gather(*(pair.execute(database, sql, deadline=5) for _ in range(50)))
    later = await pair.execute(database, sql, deadline=5)
    assert {id(execution) for execution in [*together, later]} == {id(later)}
    await pair.execute(database, sql, deadline=6)
    await pair.execute(database, sql + " ", deadline=5)
    after = pair.statistics()
    assert (after.executed - before.executed, after.shared - before.shared) == (3, 50)


async def test_a_time_out_is_confirmed_once_before_it_is_shared(database: Path, pair: SqlPool) -> None:
    before = pair.statistics()
    together = [pair.execute(database, f"{ENDLESS} -- shared", deadline=0.1) for _ in range(10)]
    executions = [*await asyncio.gather(*together), await pair.execute(database, f"{ENDLESS} -- shared", deadline=0.1)]
    assert {execution.outcome.status for execution in executions} == {"timeout"}
    after = pair.statistics()
    assert (after.executed - before.executed, after.shared - before.shared) == (2, 9)


@pytest.mark.parametrize(
    ("sign", "status", "word"), [(signal.SIGKILL, "memory", "killed"), (signal.SIGSEGV, "runtime", "SIGSEGV")]
)
async def test_a_worker_that_dies_costs_one_doubtful_outcome_that_nobody_shares(
    sign: int, status: str, word: str, database: Path, pool: SqlPool
) -> None:
    slow = (
        f"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1500000) SELECT count(*), {sign} FROM c"
    )
    lost = pool.statistics().lost
    asked = [asyncio.create_task(pool.execute(database, slow, deadline=20)) for _ in range(2)]
    await eventually(lambda: pool.statistics().busy == 1)
    os.kill(pool.statistics().workers[0], sign)
    first, other = await asyncio.gather(*asked)
    assert (first.outcome.status, first.doubtful) == (status, True)
    assert word in first.outcome.message
    assert other.outcome.excerpt == ((1_500_000, sign),)
    assert pool.statistics().lost == lost + 1


async def test_a_worker_that_dies_idle_is_not_missed(database: Path, pool: SqlPool) -> None:
    os.kill(pool.statistics().workers[0], signal.SIGKILL)
    await eventually(lambda: not pool.statistics().workers)
    assert (await pool.execute(database, "SELECT 'idle'", deadline=5)).outcome.status == "ok"


async def test_a_database_that_cannot_be_read_is_no_outcome(
    copies: Callable[..., list[Path]], database: Path, pool: SqlPool, tmp_path: Path
) -> None:
    (broken,) = copies("broken.sqlite")
    with broken.open("r+b") as file:
        file.seek(4_096)
        file.write(b"\xff" * 4_096)
    for path, sql in ((tmp_path / "none.sqlite", "SELECT 1"), (broken, "SELECT * FROM item")):
        for _ in range(2):  # and is asked anew each time
            with pytest.raises(ConfigurationError, match=path.name):
                await pool.execute(path, sql, deadline=5)
    assert (await pool.execute(database, "SELECT 'unbroken'", deadline=5)).outcome.status == "ok"


async def test_names_of_files_are_not_read_as_uris(copies: Callable[..., list[Path]], pool: SqlPool) -> None:
    (odd,) = copies("a b?mode=rw&x=%41#é.sqlite")
    assert (await pool.execute(odd, "SELECT count(*) FROM item", deadline=5)).outcome.excerpt == ((400,),)
    assert os.listdir(odd.parent) == [odd.name]  # noqa: PTH208


async def test_more_databases_than_a_worker_keeps_open_are_served(
    copies: Callable[..., list[Path]], pool: SqlPool
) -> None:
    paths = copies(*(f"{number}.sqlite" for number in range(20)))
    for sql in ("SELECT 1", "SELECT 2"):
        for path in paths:
            assert (await pool.execute(path, sql, deadline=5)).outcome.status == "ok"
    threads = os.listdir(f"/proc/{pool.statistics().workers[0]}/task")  # noqa: PTH208
    assert len(threads) <= 10

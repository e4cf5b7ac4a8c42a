"""Gold results: executed once for one database content, by however many runs."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from turntide.engine.sql.bounds import SqlLimits
from turntide.engine.sql.comparison import Digester
from turntide.engine.sql.gold import GoldCache, OutcomeFile
from turntide.engine.sql.outcome import Outcome
from turntide.engine.sql.pool import SqlPool

pytestmark = pytest.mark.asyncio(loop_scope="session")

OUTCOMES = {f"key {n}": Outcome(status="ok", rows=n, excerpt=((n, "ä\n", b"\n"),)) for n in range(3)}


@pytest.fixture
def executed(pool: SqlPool) -> Callable[[], int]:
    """Return how many statements the pool has executed since the test began."""
    before = pool.statistics().executed
    return lambda: pool.statistics().executed - before


async def test_a_gold_statement_is_executed_once_by_all_runs_together(
    database: Path, pool: SqlPool, executed: Callable[[], int], tmp_path: Path
) -> None:
    sql = "SELECT name, price FROM item WHERE id = 7"
    first = GoldCache(pool, tmp_path)
    outcomes = await asyncio.gather(*(first.reference(database, sql) for _ in range(20)))
    assert executed() == 1
    # Under another deadline the pool itself has nothing to share.
    outcomes.append(await GoldCache(pool, tmp_path, deadline=59).reference(database, sql))
    assert executed() == 1
    assert outcomes == [outcomes[0]] * 21
    assert outcomes[0].excerpt == (("item 7", 1.75),)


async def test_another_content_or_statement_is_a_miss_and_another_name_is_none(
    copies: Callable[..., list[Path]], pool: SqlPool, executed: Callable[[], int], tmp_path: Path
) -> None:
    one, moved, changed = copies("one", "moved", "changed")
    with changed.open("ab") as file:
        file.write(b"\0")
    for path, sql, count in (
        (one, "SELECT 1", 1),
        (moved, "SELECT 1", 1),
        (changed, "SELECT 1", 2),
        (one, "SELECT  1", 3),
    ):
        await GoldCache(pool, tmp_path / "cache").reference(path, sql)
        assert executed() == count


@pytest.mark.parametrize("disguised", [False, True], ids=["written", "written and its time set back"])
async def test_an_outcome_is_not_kept_when_the_database_was_touched_before_it_came(
    copies: Callable[..., list[Path]], pool: SqlPool, tmp_path: Path, disguised: bool
) -> None:
    (path,) = copies("restless")
    cache = GoldCache(pool, tmp_path / "cache")
    assert (await cache.reference(path, "SELECT count(*) FROM item -- before")).status == "ok"
    written = (tmp_path / "cache" / "gold.jsonl").read_bytes()
    before = path.stat()
    with path.open("r+b") as file:  # SQLite's own counter of changes: the same size, and as good a database
        file.seek(24)
        file.write(b"\0\0\1\0")
    if disguised:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (await cache.reference(path, "SELECT count(*) FROM item -- after")).status == "ok"
    assert (tmp_path / "cache" / "gold.jsonl").read_bytes() == written


async def test_other_guards_are_a_miss(database: Path, pool: SqlPool, tmp_path: Path) -> None:
    await GoldCache(pool, tmp_path).reference(database, "SELECT 2")
    async with SqlPool(workers=1, limits=SqlLimits()) as other:
        await GoldCache(other, tmp_path).reference(database, "SELECT 2")
        assert other.statistics().executed == 1


async def test_a_gold_time_out_is_executed_once_however_many_ask_and_not_kept_on_disk(
    database: Path, pool: SqlPool, executed: Callable[[], int], tmp_path: Path
) -> None:
    cache = GoldCache(pool, tmp_path / "cache", deadline=0.1)
    endless = "SELECT count(*) FROM item a, item b, item c, item d -- gold"
    outcomes = await asyncio.gather(*(cache.reference(database, endless) for _ in range(3)))
    outcomes.append(await cache.reference(database, endless))
    assert [outcome.status for outcome in outcomes] == ["timeout"] * 4
    assert executed() == 1
    assert not (tmp_path / "cache").exists()


async def test_real_gold_statements_give_what_plain_sqlite_gives(
    shared_data: Path, real_golds: list[str], pool: SqlPool, tmp_path: Path
) -> None:
    path = shared_data / "enterprisemem/sec_edgar.db"
    cache = GoldCache(pool, tmp_path)
    outcomes = await asyncio.gather(*(cache.reference(path, gold) for gold in real_golds))
    plain = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    for gold, outcome in zip(real_golds, outcomes, strict=True):
        digester = Digester()
        for row in plain.execute(gold):
            digester.add(row)
        assert (outcome.status, outcome.rows) == ("ok", digester.rows)
        assert outcome.digests == digester.digests()
    plain.close()


@pytest.fixture
def real_golds(shared_data: Path) -> list[str]:
    """The first gold statements of the released benchmark over SEC filings."""
    sessions = json.loads(gzip.decompress((shared_data / "enterprisemem/all_sessions.json.gz").read_bytes()))
    filings = [turn for session in sessions if session["source"] == "sec_edgar" for turn in session["turns"]]
    return [turn["ground_truth_sql"] for turn in filings[:60]]


async def test_a_cache_cut_at_any_byte_loses_at_most_what_was_cut(tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    ends: list[int] = []
    for key, outcome in OUTCOMES.items():
        OutcomeFile(whole).put(key, outcome)
        ends.append(whole.stat().st_size)
    content = whole.read_bytes()
    for cut in range(len(content)):
        torn.write_bytes(content[:cut])
        file = OutcomeFile(torn)
        kept = [key for key, end in zip(OUTCOMES, ends, strict=True) if end <= cut]
        assert [key for key in OUTCOMES if file.get(key) == OUTCOMES[key]] == kept
        file.put("new", OUTCOMES["key 1"])
        assert OutcomeFile(torn).get("new") == OUTCOMES["key 1"]


async def test_two_processes_may_write_one_cache(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "gold.jsonl"
    one, other = OutcomeFile(path), OutcomeFile(path)
    for n, (key, outcome) in enumerate(OUTCOMES.items()):
        (one, other)[n % 2].put(key, outcome)
        (one, other)[n % 2].put(key, Outcome(status="runtime"))  # what is known stays
    again = OutcomeFile(path)
    assert {key: again.get(key) for key in OUTCOMES} == OUTCOMES


async def test_a_cache_that_cannot_be_written_still_serves_its_run(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    file = OutcomeFile(blocked / "gold.jsonl")
    file.put("key", Outcome(status="ok", rows=3))
    assert file.get("key") == Outcome(status="ok", rows=3)

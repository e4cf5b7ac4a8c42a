"""Statements that a model should not write: each comes to its status and leaves nothing behind."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from turntide.engine.sql.databases import database_digest
from turntide.engine.sql.pool import GRACE, SqlPool

from ...support.cases import blocks, expanded, headed
from ...support.processes import children_of, descendants
from .conftest import LIMITS, eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")

DEADLINES = {"timeout": 0.3, "any other": 10.0}


@dataclass(frozen=True)
class Surroundings:
    """All that a statement must leave as it was."""

    digest: str
    files: frozenset[Path]
    threads: int

    @classmethod
    def of(cls, database: Path) -> Surroundings:
        files = frozenset(database.parent.iterdir()) | frozenset(Path.cwd().iterdir())
        return cls(database_digest(database), files, threading.active_count())


def _is_at_rest(pool: SqlPool) -> bool:
    """Return whether the pool has its one worker again, and its fork server no other child."""
    workers = set(pool.statistics().workers)
    return len(workers) == 1 and any(children == workers for children in children_of(descendants(os.getpid())))


def _memory_peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


@pytest.mark.parametrize("block", blocks("sql/hostile.sql"), ids=lambda block: headed(block)[0])
async def test_a_hostile_statement_comes_to_its_status_and_leaves_nothing(
    block: str, database: Path, pool: SqlPool
) -> None:
    head, statement = headed(block)
    status, _, _ = head.partition(": ")
    deadline = DEADLINES.get(status, DEADLINES["any other"])
    before = Surroundings.of(database)
    start = time.perf_counter()
    execution = await pool.execute(database, expanded(statement), deadline=deadline)
    seconds = time.perf_counter() - start
    assert execution.outcome.status == status, execution.outcome.message
    assert bool(execution.outcome.digests) == (status == "ok")
    assert bool(execution.outcome.message) == (status != "ok")
    # 50 ms on an idle machine, which `test_a_killed_statement_is_answered_in_time` holds it to.
    assert seconds < deadline + GRACE + 0.5
    assert Surroundings.of(database) == before
    await eventually(lambda: _is_at_rest(pool))
    for pid in pool.statistics().workers:
        assert _memory_peak(pid) < LIMITS.memory + 96 * 2**20


async def test_the_next_statement_is_none_the_worse(database: Path, pool: SqlPool) -> None:
    execution = await pool.execute(database, "SELECT count(*) FROM item", deadline=5)
    assert execution.outcome.excerpt == ((400,),)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("SELECT '\0'", "syntax"),
        ("SELECT '\ud800'", "syntax"),
        ("", "syntax"),
        (" \n;\t;", "syntax"),
        ("SELECT '🙂', '\u202e', '\u2028'", "ok"),
    ],
)
async def test_any_text_has_a_clean_outcome(text: str, status: str, database: Path, pool: SqlPool) -> None:
    assert (await pool.execute(database, text, deadline=5)).outcome.status == status

"""Statements that a model should not write: each comes to its status, in time, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from turntide.engine.sql.pool import GRACE, SqlPool

from ...support.hostile import Attack, Range, attacks, make_trap, most_memory
from .conftest import LIMITS

pytestmark = pytest.mark.asyncio(loop_scope="session")

DEADLINES = {"timeout": 0.15, "any other": 10.0}


@pytest.fixture(scope="module")
def attacked(pool: SqlPool, spare: Path) -> Range:
    return Range(pool, [Path.cwd(), spare])


@pytest.mark.parametrize("attack", [*attacks()], ids=lambda attack: f"{attack.status}: {attack.name}")
async def test_a_hostile_statement_comes_to_its_status_and_leaves_nothing(
    attack: Attack, database: Path, attacked: Range, tmp_path: Path
) -> None:
    target = make_trap(tmp_path / "trap.sqlite", attack.script) if attack.script else database
    statuses = attack.status.split(" or ")
    deadline = DEADLINES.get(statuses[0], DEADLINES["any other"])
    after = await attacked.fire(target, attack.sql, deadline)
    outcome = after.execution.outcome
    assert outcome.status in statuses, outcome.message
    assert bool(outcome.digests) == (attack.status == "ok")
    assert bool(outcome.message) == (attack.status != "ok")
    # 50 and 250 ms on an idle machine, which `test_pool` and `make hostile` hold it to.
    assert after.seconds < deadline + GRACE + 0.5
    assert after.ready < 2.5
    assert after.memory < most_memory(LIMITS)
    assert not after.changed
    assert after.at_rest


async def test_the_next_statement_is_none_the_worse(database: Path, pool: SqlPool) -> None:
    execution = await pool.execute(database, "SELECT count(*) FROM item", deadline=5)
    assert execution.outcome.excerpt == ((400,),)

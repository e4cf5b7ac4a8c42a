"""The engine's way to a model without a benchmark around it: journal, limits, budget, calls, contexts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

from turntide.engine.calls.budget import Budget
from turntide.engine.calls.calls import Calls
from turntide.engine.calls.ledger import Ledger
from turntide.engine.calls.limits.clock import loop_time
from turntide.engine.calls.retries import Retries
from turntide.engine.calls.routes import open_routes
from turntide.engine.calls.turnstile import Purse
from turntide.engine.closing import Closing
from turntide.engine.context import Door, UnitContext
from turntide.engine.journal import Journal
from turntide.engine.progress import Progress
from turntide.engine.spec import ModelSpec, Settings, Spec
from turntide.engine.sql.executor import SqlExecutor
from turntide.engine.system.garbage import seldom_collected
from turntide.engine.unit import Unit

MODEL = "sim/echo"


@asynccontextmanager
async def opened(settings: Settings, url: str, folder: Path) -> AsyncGenerator[Door]:
    """Open what the contexts of a run share, as a run does, for one simulated model behind `url`."""
    spec = Spec(benchmark="bench", models=[ModelSpec(id=MODEL)], settings=settings)
    budget = Budget(cap=Decimal(settings.max_cost) if settings.max_cost else None)
    ledger, progress, closing = Ledger(budget), Progress(), Closing()
    path = folder / "journal.jsonl"
    with seldom_collected(), Journal.open(path, visitors=[ledger.visit], linger=progress.linger) as journal:
        routes = open_routes(spec, (), Purse(budget), loop_time, journal.append, {"TURNTIDE_SIM_BASE_URL": url})
        calls = Calls(
            journal,
            ledger,
            run="bench",
            retries=Retries(faults=settings.retries, first=settings.backoff),
            attempt_timeout=settings.attempt_timeout,
            clock=loop_time,
            progress=progress,
            sleep=closing.sleep,
        )
        executor = SqlExecutor({}, timeout=settings.sql_timeout)
        try:
            yield Door(journal=journal, calls=calls, executor=executor, routes=routes.by_label, seed=0, closing=closing)
        finally:
            await routes.aclose()


def context(door: Door, name: str, turns: int) -> UnitContext:
    """Return the context of the dialogue `name`."""
    unit = Unit(key=f"{MODEL}/B_wm5/{name}/0", item=name, model=MODEL, turns=turns)
    return UnitContext(unit, door)

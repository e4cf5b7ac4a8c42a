"""What is forecast, against the engine's own scheduler and limits in simulated time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path

import pytest
from turntide.engine.again.forecast import ORDER, WINDOW, Call, Crowd, forecast
from turntide.engine.calls.budget import Budget
from turntide.engine.calls.limits.account import AccountLimits, Limits
from turntide.engine.calls.limits.clock import loop_time
from turntide.engine.calls.turnstile import OwnTurnstile, Purse
from turntide.engine.closing import Closing
from turntide.engine.journal import Journal
from turntide.engine.progress import Progress
from turntide.engine.scheduler import Scheduler
from turntide.engine.unit import Lane, Unit

from ...support.time import run_jumping
from ...support.toy import TURNS, Toy

SECONDS, RESERVED, USED = 2.0, 1_500.0, 600.0
REASONS = ("requests per minute", "tokens per minute", "calls in flight")


@dataclass(frozen=True)
class Regime:
    """A plan whose time one thing rules: `ordered` lanes are long ones, of which the small benchmark has one."""

    limits: Limits
    window: int = 64
    ordered: bool = False


REGIMES = {
    "requests per minute": Regime(Limits(requests_per_minute=120)),
    "tokens per minute": Regime(Limits(tokens_per_minute=60_000)),
    "calls in flight": Regime(Limits(in_flight=2, adaptive=False)),
    WINDOW: Regime(Limits(adaptive=False), window=6),
    ORDER: Regime(Limits(requests_per_minute=600), ordered=True),
    "a bound that is found": Regime(Limits(in_flight=64), ordered=True),
}


class Plan(Toy):
    """The small benchmark, with its long lane or without."""

    ordered = True

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        return islice(super().lanes(model, repeats), 0 if self.ordered else 1, None)


def _really(folder: Path, toy: Toy, limits: Limits, window: int) -> float:
    """Return how long the scheduler takes with a provider of constant latency."""

    async def main() -> float:
        turnstile = OwnTurnstile(AccountLimits(limits, loop_time, lambda change: None), Purse(Budget()), loop_time)

        async def talk(unit: Unit) -> None:
            for _ in range(TURNS):
                await turnstile.enter("m", RESERVED, Decimal(0))
                await asyncio.sleep(SECONDS)
                turnstile.leave(RESERVED, USED, Decimal(0), Decimal(0))
                turnstile.limits.answered()

        progress = Progress()
        progress.of("m").planned = toy.units
        with Journal.open(folder / "journal.jsonl") as journal:
            await Scheduler(toy, journal, talk, progress, Closing()).run({"m": window}, 1)
            return loop_time()

    return run_jumping(main())


@pytest.mark.parametrize("name", REGIMES)
@pytest.mark.parametrize("units", [90, 201])
def test_a_forecast_is_within_5_percent_of_what_the_scheduler_takes(tmp_path: Path, name: str, units: int) -> None:
    regime, plan = REGIMES[name], Plan(tmp_path / "data", units)
    plan.ordered = regime.ordered
    talk = [Call("account", RESERVED, USED, SECONDS)] * TURNS
    lanes = [[[talk for _ in step] for step in lane] for lane in plan.lanes("m", 1)]
    found = forecast({"account": regime.limits}, [Crowd(regime.window, lanes)])
    taken = _really(tmp_path, plan, regime.limits, regime.window)
    assert found.seconds == pytest.approx(taken, rel=0.05)  # pyright: ignore[reportUnknownMemberType]
    assert found.bound == (name if name in (*REASONS, WINDOW, ORDER) else ORDER)


def test_crowds_of_one_account_share_its_limit_and_others_do_not() -> None:
    talk = [Call("one", 1, 1, 1.0)]
    crowd = Crowd(64, [[[talk]]] * 100)
    elsewhere = Crowd(64, [[[[Call("other", 1, 1, 1.0)]]]] * 100)
    limits = Limits(requests_per_minute=60)
    alone = forecast({"one": limits}, [crowd]).seconds
    assert forecast({"one": limits, "other": limits}, [crowd, elsewhere]).seconds == pytest.approx(alone)  # pyright: ignore[reportUnknownMemberType]
    assert forecast({"one": limits}, [crowd, crowd]).seconds == pytest.approx(2 * alone, rel=0.02)  # pyright: ignore[reportUnknownMemberType]


def test_a_plan_of_nothing_takes_no_time() -> None:
    assert forecast({}, []).seconds == 0

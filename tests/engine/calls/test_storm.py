"""Many calls at once: the loop stays free, and the slots stay full."""

from __future__ import annotations

import asyncio
from pathlib import Path

from turntide.adapters.base import TransportFault
from turntide.engine.calls.limits.account import Limits
from turntide.engine.calls.pace import BURST
from turntide.engine.calls.retries import Retries

from ...support.provider import Bench, Reaction, ScriptedProvider, bench, good, writing
from ...support.time import run_jumping


async def _all(setup: Bench, count: int) -> None:
    await asyncio.gather(*(setup.ask(f"u{n}") for n in range(count)), return_exceptions=True)


def test_a_storm_of_failing_calls_keeps_the_loop_free(tmp_path: Path) -> None:
    """What holds a loop is work done in one of its ticks: no tick may send more than a few dozen calls."""
    ticks: list[int] = [0]
    stopped: list[bool] = []

    async def main() -> int:
        loop = asyncio.get_running_loop()

        def tick() -> None:
            ticks.append(0)
            if not stopped:
                loop.call_soon(tick)

        def react(n: int, body: bytes) -> Reaction:
            if n == 0:
                loop.call_soon(tick)
            ticks[-1] += 1
            return TransportFault("network", "sent", "dropped")

        scripted = ScriptedProvider(react, latency=lambda: 0.0)
        limits = Limits(in_flight=1000, adaptive=False)
        async with bench(tmp_path, scripted, limits=limits, retries=Retries(faults=2, first=0.001)) as setup:
            await _all(setup, 1500)
        stopped.append(True)
        return len(scripted.sends)

    assert asyncio.run(main()) == 1500 * 3
    # Grants, woken writers and woken sleepers each bring at most a burst to one tick.
    assert max(ticks) <= 3 * BURST


def test_eighty_slots_stay_busy_with_a_fixed_server(tmp_path: Path) -> None:
    """80 slots over a 50 ms server serve 1,600 calls a second; at least 95 % of that is reached."""

    async def main() -> tuple[float, int]:
        scripted = ScriptedProvider(lambda n, body: good(), latency=lambda: 0.05)
        async with bench(tmp_path, scripted, limits=Limits(in_flight=80, adaptive=False)) as setup:
            began = asyncio.get_running_loop().time()
            await _all(setup, 2000)
            return asyncio.get_running_loop().time() - began, scripted.most

    seconds, most = run_jumping(main(), writing)
    assert most == 80
    assert 2000 / 80 * 0.05 / seconds >= 0.95

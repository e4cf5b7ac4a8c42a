"""A provider that asks for less: who was refused waits, once for all, and comes back one by one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from turntide.engine.calls.limits.account import Limits
from turntide.engine.calls.retries import Retries
from turntide.engine.errors import Unfinished

from ...support.provider import Reaction, ScriptedProvider, bench, fault, good, writing
from ...support.time import run_jumping


def test_rate_limits_have_a_cap_of_their_own_and_never_eat_the_retries_of_faults(tmp_path: Path) -> None:
    async def main() -> int:
        scripted = ScriptedProvider(lambda n, body: fault(429, retry_after=1.0) if n < 20 else good())
        async with bench(tmp_path, scripted, retries=Retries(faults=0)) as setup:
            await setup.ask("u")
        return len(scripted.sends)

    assert run_jumping(main(), writing) == 21


def _sent(tmp_path: Path, calls: int) -> list[float]:
    """Return when each of `calls` was sent, eight at once, of which the first eight are told to wait for 30 s."""
    times: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def react(n: int, body: bytes) -> Reaction:
            times.append(loop.time())
            return fault(429, retry_after=30.0) if n < 8 else good()

        async with bench(tmp_path, ScriptedProvider(react), limits=Limits(in_flight=8, adaptive=False)) as setup:
            await asyncio.gather(*(setup.ask(f"u{n}") for n in range(calls)))

    run_jumping(main(), writing)
    return times


def test_nobody_comes_back_before_the_server_asked(tmp_path: Path) -> None:
    times = _sent(tmp_path, 40)
    pause_began = times[7] + 0.01
    assert min(times[8:]) >= pause_began + 30 - 0.02


def test_those_who_were_refused_together_do_not_come_back_in_step(tmp_path: Path) -> None:
    times = _sent(tmp_path, 8)
    returns = sorted(times[8:])
    assert len(set(returns)) >= 5  # who comes back within one group commit is sent with it
    assert 0.1 < returns[-1] - returns[0] < 5


def test_a_retry_after_beyond_the_ceiling_parks_the_model(tmp_path: Path) -> None:
    async def main() -> tuple[str, int]:
        scripted = ScriptedProvider(lambda n, body: fault(429, retry_after=7200.0))
        async with bench(tmp_path, scripted) as setup:
            with pytest.raises(Unfinished) as stop:
                await setup.ask("u")
            with pytest.raises(Unfinished):
                await setup.ask("v")
        return stop.value.why, len(scripted.sends)

    assert run_jumping(main(), writing) == ("parked", 1)

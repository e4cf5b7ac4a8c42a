"""A run leaves a beat now and then, and none where nothing is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from turntide.adapters.simulated import Config, SimulatedServer
from turntide.engine.calls.budget import Budget
from turntide.engine.calls.limits.clock import loop_time
from turntide.engine.calls.routes import open_routes
from turntide.engine.calls.turnstile import Purse
from turntide.engine.journal import scan
from turntide.engine.progress import Progress
from turntide.engine.spec import ModelSpec
from turntide.engine.watch import pulse

from ...support.toy import run_toy, toy_spec


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "FIRST", 0.02)


async def test_beats_tell_answers_flight_retries_and_limits(tmp_path: Path) -> None:
    with SimulatedServer.start(Config(latency="0.02", faults={"500": 0.1})) as server:
        await run_toy(tmp_path / "run", server.base_url)
        beats = [line for line in scan(tmp_path / "run" / "journal.jsonl") if line["k"] == pulse.PULSE]
        answers = [beat["answers"] for beat in beats]
        assert len(beats) > 2
        assert answers == sorted(answers)
        assert max(beat["flight"] for beat in beats) > 0
        assert beats[-1]["retries"]["server"] > 0
        bounds: list[Mapping[str, list[float | None]]] = [beat["limits"] for beat in beats]
        assert all(bound > 0 for limits in bounds for bound, _ in limits.values() if bound)
        before = (tmp_path / "run" / "journal.jsonl").read_bytes()
        await run_toy(tmp_path / "run", server.base_url)
        await asyncio.sleep(0)
        assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before


async def test_a_model_with_limits_of_its_own_stands_beside_its_account() -> None:
    user = ModelSpec(id="sim/echo", label="user")
    routes = open_routes(toy_spec("sim/echo", "sim/other"), [user], Purse(Budget()), loop_time, lambda line: None)
    try:
        limits = pulse.beat(Progress(), routes)["limits"]
        assert isinstance(limits, dict)
        assert list(limits) == ["sim/default", "sim/default user"]
    finally:
        await routes.aclose()

"""A run leaves a beat now and then, and none where nothing is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from turntide.adapters.simulated import Config, SimulatedServer
from turntide.engine import pulse
from turntide.engine.journal import scan

from ..support.toy import run_toy


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

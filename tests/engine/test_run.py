"""Whole runs of a small benchmark over the real simulated provider: resumed, killed, mixed up, never changed by it."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated import Config, SimulatedServer, serve
from turntide.engine.cli.show import summary_text
from turntide.engine.errors import Unfinished
from turntide.engine.folder.lock import FolderInUse
from turntide.engine.folder.manifest import ManifestMismatch
from turntide.engine.journal import scan
from turntide.engine.run import execute
from turntide.engine.spec import Settings

from ..support.journals import answers, ends, kinds, results
from ..support.toy import TURNS, Toy, interrupted_when, run_toy, toy_spec


async def test_a_finished_run_finds_nothing_to_do(tmp_path: Path) -> None:
    with SimulatedServer.start() as server:
        assert (await run_toy(tmp_path / "run", server.base_url)).exit_code == 0
        sent = server.stats()["requests"]
        before = (tmp_path / "run" / "journal.jsonl").read_bytes()
        assert (await run_toy(tmp_path / "run", server.base_url)).exit_code == 0
        assert server.stats()["requests"] == sent == 30 * TURNS
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before


@pytest.mark.parametrize("seed", [1, 2])
async def test_latencies_and_faults_never_change_a_result(tmp_path: Path, seed: int) -> None:
    async with serve(Config()) as base_url:
        await run_toy(tmp_path / "calm", base_url)
    stormy = Config(
        seed=seed, latency="uniform:0:0.03", faults={"429": 0.1, "500": 0.1, "reset": 0.05}, retry_after=0.05
    )
    async with serve(stormy) as base_url:
        summary = await run_toy(tmp_path / "stormy", base_url)
    assert summary.exit_code == 0
    assert results(tmp_path / "stormy") == results(tmp_path / "calm")


def test_after_any_kills_every_unit_ends_once_and_only_calls_on_the_wire_were_repeated(tmp_path: Path) -> None:
    chance = random.Random(3)
    folder, program = tmp_path / "run", str(Path(__file__).parent.parent / "support" / "toy.py")
    with SimulatedServer.start(Config(latency="uniform:0.005:0.03")) as server:
        command = [sys.executable, program, str(folder), server.base_url, "120"]
        code, kills = None, 0
        while code != 0:
            child = subprocess.Popen(command, stderr=subprocess.PIPE)
            answered = answers(folder)
            deadline = time.monotonic() + 30
            # Killed at a moment of its own in every round, once it has moved.
            while kills < 4 and child.poll() is None and answers(folder) == answered and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.1))
            if kills < 4:
                child.send_signal(signal.SIGKILL)
                kills += 1
            _, errors = child.communicate(timeout=60)
            code = child.returncode
            assert code in (0, -signal.SIGKILL), errors.decode()
        stats = server.stats()
    assert kills == 4
    assert sorted(ends(folder)) == sorted(set(ends(folder)))
    assert len(ends(folder)) == 120
    sent = kinds(folder)["sent"]
    assert kinds(folder)["answer"] == 120 * TURNS
    repeats = stats["repeats"]
    assert isinstance(repeats, int)
    # Every request beyond the first of its call was recorded before it left, and nothing that was answered came again.
    assert repeats <= sent - 120 * TURNS
    assert repeats <= 4 * 64

    asyncio.run(_uninterrupted(tmp_path))
    assert results(folder) == results(tmp_path / "whole")


async def _uninterrupted(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        await run_toy(tmp_path / "whole", base_url, units=120)


async def test_what_a_session_of_an_ordered_lane_sees_is_all_earlier_ones_also_after_a_resume(tmp_path: Path) -> None:
    async with serve(Config(latency=0.01)) as base_url:
        spec = toy_spec(settings=Settings(sql_workers=1, concurrency=8))

        toy = Toy(tmp_path / "data")
        environ = {"TURNTIDE_SIM_BASE_URL": base_url}
        summary = await execute(spec, toy, tmp_path / "run", interrupted_when(lambda counts: counts.answers), environ)
        assert summary.state == "interrupted"
        assert summary.exit_code == 130
        assert 0 < kinds(tmp_path / "run")["answer"] < 30 * TURNS
        await execute(spec, Toy(tmp_path / "data"), tmp_path / "run", environ=environ)
    lane = [
        line for line in scan(tmp_path / "run" / "journal.jsonl") if line["k"] == "record" and line["fields"]["saw"]
    ]
    assert sorted({line["fields"]["saw"] for line in lane}) == list(range(1, 10))


class Unprepared(Toy):
    async def prepare(self) -> None:
        raise Unfinished("infrastructure", "the embedder is gone")


async def test_what_a_run_needs_is_prepared_before_a_call_and_only_while_a_dialogue_is_left(tmp_path: Path) -> None:
    toy = Unprepared(tmp_path / "data", 3)
    async with serve(Config()) as url:
        stopped = await run_toy(tmp_path / "run", url, toy=toy)
        assert (stopped.exit_code, stopped.causes, stopped.done) == (3, ("the embedder is gone",), 0)
        assert "sent" not in kinds(tmp_path / "run")
        await run_toy(tmp_path / "run", url, units=3)
        again = await run_toy(tmp_path / "run", url, toy=toy)
    assert (again.exit_code, again.done) == (0, 3)
    assert "nothing was left to do" in summary_text(again)


async def test_a_second_process_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    async with serve(Config(latency=0.05)) as base_url:
        first = asyncio.create_task(run_toy(tmp_path / "run", base_url))
        await asyncio.sleep(0.3)
        with pytest.raises(FolderInUse, match=str(os.getpid())):
            await run_toy(tmp_path / "run", base_url)
        await first


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": 1}, "seed"),
        ({"repeats": 2}, "repeats"),
        ({"limit": 3}, "limit"),
    ],
)
async def test_another_identity_is_refused_with_the_difference(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    async with serve(Config()) as base_url:
        await run_toy(tmp_path / "run", base_url)
        with pytest.raises(ManifestMismatch, match=field):
            await run_toy(tmp_path / "run", base_url, spec=toy_spec(**change))


async def test_settings_that_enter_no_request_may_change_freely(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        await run_toy(tmp_path / "run", base_url)
        settings = Settings(sql_workers=2, concurrency=3, in_flight=2, rpm=60_000, retries=0, max_cost="5")
        assert (await run_toy(tmp_path / "run", base_url, spec=toy_spec(settings=settings))).exit_code == 0


async def test_live_tasks_stay_within_the_window_whatever_the_size_of_the_sweep(tmp_path: Path) -> None:
    most = 0

    async def count() -> None:
        nonlocal most
        while True:
            most = max(most, len(asyncio.all_tasks()))
            await asyncio.sleep(0.01)

    spec = toy_spec(settings=Settings(concurrency=20, sql_workers=1))
    with SimulatedServer.start() as server:
        counting = asyncio.create_task(count())
        before = len(asyncio.all_tasks())
        await run_toy(tmp_path / "run", server.base_url, units=300, spec=spec)
        counting.cancel()
    # A worker per place in the window, a task per unit in it, the widest step, and what the engine itself runs.
    assert most - before <= 20 + 20 + 4 + 10


async def test_a_refused_command_leaves_no_folder_and_no_settings_behind(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        for bad in (Settings(prices="nope.toml"), Settings(max_cost="0")):
            with pytest.raises(ConfigurationError):
                await run_toy(tmp_path / "run", base_url, spec=toy_spec("openai/x", settings=bad))
            assert not (tmp_path / "run").exists()
        await run_toy(tmp_path / "run", base_url)
        before = (tmp_path / "run" / "manifest.json").read_bytes()
        with pytest.raises(ConfigurationError):
            await run_toy(tmp_path / "run", base_url, spec=toy_spec(settings=Settings(prices="nope.toml")))
        assert (tmp_path / "run" / "manifest.json").read_bytes() == before


async def test_a_window_wider_than_the_work_costs_nothing(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        settings = Settings(sql_workers=1, concurrency=10**12, in_flight=10**12)
        assert (await run_toy(tmp_path / "run", base_url, spec=toy_spec(settings=settings))).exit_code == 0


async def test_a_seeded_run_takes_over_what_is_the_same_and_asks_only_the_rest(tmp_path: Path) -> None:
    with SimulatedServer.start() as server:
        await run_toy(tmp_path / "old", server.base_url)
        sent = server.stats()["requests"]
        settings = Settings(sql_workers=1, seed_from=str(tmp_path / "old"))
        assert (await run_toy(tmp_path / "same", server.base_url, spec=toy_spec(settings=settings))).exit_code == 0
        assert server.stats()["requests"] == sent
        assert results(tmp_path / "same") == results(tmp_path / "old")
        wider = toy_spec(settings=settings, repeats=2)
        assert (await run_toy(tmp_path / "wider", server.base_url, spec=wider)).exit_code == 0
        assert server.stats()["requests"] == 2 * 30 * TURNS
    seeded = [line for line in scan(tmp_path / "wider" / "journal.jsonl") if "seeded" in line]
    assert len(seeded) == 30 * TURNS
    assert {line["usd"] for line in seeded} == {"0"}


async def test_a_seed_that_is_no_run_is_refused(tmp_path: Path) -> None:
    settings = Settings(sql_workers=1, seed_from=str(tmp_path / "nothing"))
    with pytest.raises(ConfigurationError, match="not a run"):
        await run_toy(tmp_path / "run", "http://127.0.0.1:9", spec=toy_spec(settings=settings))

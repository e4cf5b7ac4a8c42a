"""Whole runs of a small benchmark over the real simulated provider: resumed, killed, mixed up, cut short."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated import Config, SimulatedServer, serve
from turntide.adapters.simulated.config import configured
from turntide.engine import run as run_module
from turntide.engine.cli.show import summary_text
from turntide.engine.errors import RunError, Unfinished
from turntide.engine.journal import scan
from turntide.engine.journal.logfile import LogFile
from turntide.engine.live import Live
from turntide.engine.lock import FolderInUse
from turntide.engine.manifest import ManifestMismatch
from turntide.engine.run import execute
from turntide.engine.spec import Settings
from turntide.engine.sql.pool import SqlPool
from turntide.engine.sql.processes import SqlPoolError

from ..support.toy import TURNS, Toy, run_toy, toy_spec


def results(folder: Path) -> list[str]:
    """Return every record of a run with its place, in an order that owes nothing to time."""
    lines = (line for line in scan(folder / "journal.jsonl") if line["k"] == "record")
    return sorted(json.dumps([line["u"], line["b"], line["s"], line["fields"]]) for line in lines)


def kinds(folder: Path) -> Counter[str]:
    return Counter(line["k"] for line in scan(folder / "journal.jsonl"))


def ends(folder: Path) -> list[str]:
    return [line["u"] for line in scan(folder / "journal.jsonl") if line["k"] == "end"]


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
            answered = _answered(folder)
            deadline = time.monotonic() + 30
            # Killed at a moment of its own in every round, once it has moved.
            while kills < 4 and child.poll() is None and _answered(folder) == answered and time.monotonic() < deadline:
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


def _answered(folder: Path) -> int:
    journal = folder / "journal.jsonl"
    return journal.read_bytes().count(b'"k":"answer"') if journal.exists() else 0


async def test_what_a_session_of_an_ordered_lane_sees_is_all_earlier_ones_also_after_a_resume(tmp_path: Path) -> None:
    async with serve(Config(latency=0.01)) as base_url:
        spec = toy_spec(settings=Settings(sql_workers=1, concurrency=8))

        def soon(live: Live) -> None:
            asyncio.get_running_loop().call_later(0.3, live.closing.begin, Unfinished("draining", "interrupted"))

        toy = Toy(tmp_path / "data")
        environ = {"TURNTIDE_SIM_BASE_URL": base_url}
        summary = await execute(spec, toy, tmp_path / "run", soon, environ)
        assert summary.state == "interrupted"
        assert summary.exit_code == 130
        assert 0 < kinds(tmp_path / "run")["answer"] < 30 * TURNS
        await execute(spec, Toy(tmp_path / "data"), tmp_path / "run", environ=environ)
    lane = [
        line for line in scan(tmp_path / "run" / "journal.jsonl") if line["k"] == "record" and line["fields"]["saw"]
    ]
    assert sorted({line["fields"]["saw"] for line in lane}) == list(range(1, 10))


async def test_a_budget_stops_the_run_with_its_code_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        '[[price]]\nmodels = ["sim/*"]\nfrom = 2020-01-01\nsource = "test"\n'
        'input = "100"\noutput = "100"\nmax_output = 50\n'
    )

    def capped(cap: str) -> Settings:
        return Settings(sql_workers=1, max_cost=cap, prices=str(prices))

    async with serve(Config()) as base_url:
        first = await run_toy(tmp_path / "run", base_url, spec=toy_spec(settings=capped("0.2")))
        assert first.exit_code == 4
        assert 0 < first.known + first.exposed <= 1
        second = await run_toy(tmp_path / "run", base_url, spec=toy_spec(settings=capped("100")))
        assert second.exit_code == 0
    assert len(ends(tmp_path / "run")) == 30


async def test_a_price_nobody_knows_is_refused_under_a_cap_before_anything_is_sent(tmp_path: Path) -> None:
    spec = toy_spec("compatible/mystery", settings=Settings(max_cost="1"))
    environ = {"TURNTIDE_COMPATIBLE_BASE_URL": "http://127.0.0.1:9", "TURNTIDE_COMPATIBLE_API_KEY": "k"}
    with pytest.raises(ConfigurationError, match="mystery"):
        await execute(spec, Toy(tmp_path / "data"), tmp_path / "run", environ=environ)


async def test_a_wrong_key_stops_its_model_and_the_others_go_on(tmp_path: Path) -> None:
    async with serve(Config(key="right")) as strict, serve(Config()) as base_url:
        spec = toy_spec("sim/echo", "openai/echo")
        environ = {"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": strict}
        summary = await run_toy(tmp_path / "run", base_url, spec=spec, environ=environ)
    assert summary.state == "incomplete"
    assert summary.exit_code == 3
    assert summary.done == 30
    assert any("openai/echo stopped" in reason for reason in summary.reasons)


async def test_only_wrong_keys_are_a_configuration_error(tmp_path: Path) -> None:
    async with serve(Config(key="right")) as strict:
        environ = {"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": strict}
        summary = await run_toy(tmp_path / "run", "", spec=toy_spec("openai/echo"), environ=environ)
    assert summary.exit_code == 2


async def test_a_bug_of_the_benchmark_ends_its_dialogue_and_not_the_run(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        toy = Toy(tmp_path / "data", crash_in="0002")
        summary = await run_toy(tmp_path / "run", base_url, toy=toy)
        assert summary.exit_code == 1
        assert summary.done == 29
        assert "ZeroDivisionError" in summary.reasons[0]
        assert (await run_toy(tmp_path / "run", base_url)).exit_code == 0


async def test_a_run_without_sql_workers_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise SqlPoolError("no worker can be had")

    async with serve(Config()) as base_url:
        with monkeypatch.context() as patched:
            patched.setattr(SqlPool, "execute", refuse)
            patched.setattr(run_module, "check_gold", _checked)
            summary = await run_toy(tmp_path / "run", base_url)
        assert summary.exit_code == 3
        assert "the SQL workers failed: no worker can be had" in summary.reasons[0]
        assert "no worker can be had" in (tmp_path / "run" / "summary.json").read_text()


async def _checked(*_: object) -> None:
    """Find nothing wrong with gold."""


async def test_gold_that_cannot_be_run_now_leaves_the_run_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise SqlPoolError("no worker can be had")

    monkeypatch.setenv("TURNTIDE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(SqlPool, "execute", refuse)
    async with serve(Config()) as base_url:
        summary = await run_toy(tmp_path / "run", base_url)
    assert summary.exit_code == 3
    assert summary.reasons == ("the SQL workers failed: no worker can be had",)


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


async def test_an_unfinished_unit_blocks_its_lane_and_nothing_else(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        summary = await run_toy(tmp_path / "run", base_url, toy=Toy(tmp_path / "data", crash_in="0006"))
    assert summary.done == 30 - (10 - 2)
    ended = set(ends(tmp_path / "run"))
    assert {f"sim/echo/{n:04}/0" for n in (0, 3)} <= ended
    assert not {f"sim/echo/{n:04}/0" for n in range(6, 30, 3)} & ended


async def test_a_run_whose_last_dialogues_are_never_answered_ends_within_attempts_times_the_time_out(
    tmp_path: Path,
) -> None:
    settings = Settings(sql_workers=1, attempt_timeout=0.5, retries=1, backoff=0.01)
    hanging = "sim/echo?stall=1"
    async with serve(Config()) as base_url:
        began = time.monotonic()
        summary = await run_toy(
            tmp_path / "run", base_url, units=3, spec=toy_spec("sim/echo", hanging, settings=settings)
        )
        seconds = time.monotonic() - began
    assert (summary.models["sim/echo"].done, summary.models[hanging].done) == (3, 0)
    assert summary.exit_code == 3
    assert 2 * 0.5 < seconds < 2 * 0.5 + 4  # a little, on a crowded machine: what a run costs besides


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


async def test_a_database_that_changes_under_a_run_is_noticed(tmp_path: Path) -> None:
    async with serve(Config(latency=0.02)) as base_url:
        run = asyncio.create_task(run_toy(tmp_path / "run", base_url))
        await asyncio.sleep(0.4)
        with (tmp_path / "data" / "numbers.sqlite").open("ab") as file:
            file.write(b"more")
        with pytest.raises(RunError, match=r"numbers.*changed"):
            await run
    assert kinds(tmp_path / "run")["tainted"] == 1


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


async def test_a_server_that_is_not_there_is_named_in_the_reasons(tmp_path: Path) -> None:
    settings = Settings(sql_workers=1, retries=0)
    summary = await run_toy(tmp_path / "run", "http://127.0.0.1:9", spec=toy_spec(settings=settings))
    assert summary.exit_code == 3
    assert "dialogues unfinished" in summary.reasons[0]
    assert "http://127.0.0.1:9" in summary.reasons[0]


async def test_a_run_that_ends_while_it_waits_for_a_busy_server_says_what_it_waited_for(tmp_path: Path) -> None:
    async with serve(configured({"faults": {"429": 1}})) as base_url:

        def soon(live: Live) -> None:
            asyncio.get_running_loop().call_later(0.3, live.closing.begin, Unfinished("draining", "interrupted"))

        spec = toy_spec(settings=Settings(sql_workers=1))
        environ = {"TURNTIDE_SIM_BASE_URL": base_url}
        summary = await execute(spec, Toy(tmp_path / "data"), tmp_path / "run", soon, environ)
    assert summary.state == "interrupted"
    assert any("the last failure was: HTTP 429" in reason for reason in summary.reasons)
    assert summary.reasons[0] == "interrupted"


async def test_a_window_wider_than_the_work_costs_nothing(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        settings = Settings(sql_workers=1, concurrency=10**12, in_flight=10**12)
        assert (await run_toy(tmp_path / "run", base_url, spec=toy_spec(settings=settings))).exit_code == 0


async def test_a_full_disk_stops_the_run_resumable_and_space_finishes_it(
    tmp_path: Path, tiny_disk: Callable[[str], Path]
) -> None:
    disk = tiny_disk("size=64k")
    async with serve(Config()) as base_url:
        toy = Toy(tmp_path / "data", units=120)
        summary = await run_toy(disk / "run", base_url, toy=toy)
        assert summary.exit_code == 3
        assert "make room" in summary.reasons[0]
        roomy = tmp_path / "run"
        shutil.copytree(disk / "run", roomy)
        assert (await run_toy(roomy, base_url, toy=Toy(tmp_path / "data", units=120))).exit_code == 0
    assert len(ends(roomy)) == 120


async def test_a_disk_that_has_no_room_for_a_torn_tail_is_told_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with serve(Config()) as base_url:
        await run_toy(tmp_path / "run", base_url)
        monkeypatch.setattr(LogFile, "cut", full)
        with pytest.raises(ConfigurationError, match=r"No space left on device.* Make room there, then start it again"):
            await run_toy(tmp_path / "run", base_url)


async def test_a_run_whose_folder_is_removed_stops_and_says_what_it_spent(tmp_path: Path) -> None:
    with SimulatedServer.start(Config(latency="uniform:0.005:0.03")) as server:

        async def remove() -> None:
            while _answered(tmp_path / "run") < 10:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            shutil.rmtree(tmp_path / "run")

        removing = asyncio.create_task(remove())
        with pytest.raises(RunError, match=r"was removed while the run went on.* It had spent"):
            await run_toy(tmp_path / "run", server.base_url, units=300)
        await removing
        requests = server.stats()["requests"]
    assert isinstance(requests, int)
    assert requests < 300 * TURNS
    assert not (tmp_path / "run").exists()


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

"""How shards end before their plan does, and what is said of it: by whom, why, and what to do."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated import Config, SimulatedServer
from turntide.engine.cli import main
from turntide.engine.cli.shards_summary import joined
from turntide.engine.cli.show import summary_text
from turntide.engine.folder.lock import RunLock
from turntide.engine.journal import Journal, scan
from turntide.engine.shards import commons, fleet, roll, server
from turntide.engine.shards.commons import Commons, Visit, connected, require_client
from turntide.engine.shards.fleet import Fleet
from turntide.engine.shards.folder import PLAN, leave_word, open_whole, shard_folder
from turntide.engine.shards.server import meeting_place
from turntide.engine.shards.worker import STOPPED, Ended, Job
from turntide.engine.system.moments import utc_now

from ...support.processes import becomes_true, descendants, is_alive
from ...support.servers import RedisServer
from ...support.sweeps import Sweep, Talk

SHARDS = 2
FOR_EVER = "600"
SWEEP = [
    *("run", "enterprisemem", "--model", "sim/reader-good", "--embedder", "lexical", "--limit", "20"),
    *("--condition", "A", "--shards", str(SHARDS), "--out", "cut"),
]


def _flying(folder: Path = Path("cut")) -> list[str]:
    journals = [shard_folder(folder, index) / "journal.jsonl" for index in range(SHARDS)]
    return [line["k"] for journal in journals if journal.exists() for line in scan(journal) if line["k"] == "sent"]


def _started(url: str) -> subprocess.Popen[str]:
    """Start the sweep with a Redis of its own, and return when calls that will never be answered are on the wire."""
    command = [sys.executable, "-m", "turntide.engine.cli", *SWEEP]
    environ = {**os.environ, "TURNTIDE_SIM_BASE_URL": url}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert becomes_true(lambda: bool(_flying()), 60)
    return process


@pytest.mark.real("redis")
def test_shards_and_their_redis_end_with_the_process_that_started_them_and_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with SimulatedServer.start(Config(latency=FOR_EVER)) as server:
        process = _started(server.base_url)
        children = descendants(process.pid)
        process.kill()
        killed = time.monotonic()
        assert becomes_true(lambda: not any(map(is_alive, children)), 20)
        assert time.monotonic() - killed < 3  # a second, and what two crowded cores add
    assert process.communicate()[0] == ""
    assert main(["status", "cut"]) == 0
    assert "the process that ran the shards is gone; the same command goes on from here" in capsys.readouterr().out


@pytest.mark.real("redis")
def test_shards_that_are_told_twice_to_end_are_interrupted_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SimulatedServer.start(Config(latency=FOR_EVER)) as server:
        process = _started(server.base_url)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)  # two signals at the same instant are one
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[0]
    assert process.returncode == 130
    assert "interrupted: 0 of 20 dialogues in cut" in said
    assert said.count(STOPPED.message) == 1
    assert "Traceback" not in said


def _whole(folder: Path) -> list[dict[str, int]]:
    """Make a run of two shards of which only the first has begun; return its plan."""
    sweep = Sweep(talks=[Talk(name="NW-1", turns=1)], told=lambda model, condition, talk, turn: {})
    manifest = sweep.manifest()
    plan = [{"sim/one": 34}, {"sim/one": 626}]
    spec: dict[str, Any] = {**manifest.settings["spec"], "settings": {"max_cost": "5"}}
    settings: dict[str, Any] = {**manifest.settings, "spec": spec, PLAN: plan}
    open_whole(folder, {**manifest.identity, "shards": SHARDS}, settings, SHARDS)
    for index in range(SHARDS):
        Journal.open(shard_folder(folder, index) / "journal.jsonl").close()
    return plan


def test_the_status_of_shards_counts_the_whole_plan_from_the_start_and_names_the_cap_of_now_and_what_they_wait_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _whole(tmp_path)
    with RunLock(tmp_path):
        leave_word(tmp_path, "Redis does not answer (why)")
        assert main(["status", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"0 of 660 dialogues in {tmp_path}" in said
    assert "spent $0.0000 of $5\nRedis does not answer (why)\n" in said
    assert main(["status", str(tmp_path)]) == 0
    assert "Redis" not in capsys.readouterr().out  # whoever left word is gone


def test_shards_whose_disk_is_full_and_shards_that_were_lost_have_their_reasons_in_the_summary_of_all(
    tmp_path: Path,
) -> None:
    plan = _whole(tmp_path)
    full = "journal.jsonl: writing stopped; make room or repair the disk, then resume."
    told: dict[str, Any] = {
        "state": "incomplete",
        "models": {"sim/one": {"planned": 34, "done": 3, "reason": full, "ended": None, "priced": True}},
        "known_usd": "0.5",
        "exposed_usd": "0",
        "reasons": [full],
        "unscored": {},
    }
    ended = [Ended(3, summary=told), Ended(-9, "its process was killed")]
    summary = joined(tmp_path, ended, plan, Decimal(5), utc_now())
    assert (summary.exit_code, summary.done, summary.planned) == (3, 3, 660)
    assert summary.causes == (full, "shard-1: its process was killed")
    assert "it ended: \n" not in summary_text(summary)
    assert joined(tmp_path, [STOPPED] * 2, plan, None, utc_now()).causes == (STOPPED.message,)


class Waiting:
    """A crew whose shards end when they are told to, and do nothing meanwhile."""

    def __init__(self) -> None:
        self.begun, self.over = asyncio.Event(), asyncio.Event()

    async def __aenter__(self) -> Waiting:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is left."""

    async def run(self, job: Job) -> Ended:
        self.begun.set()
        await self.over.wait()
        return Ended(0)

    def kill(self) -> None:
        self.over.set()


async def _until(condition: Callable[[], object]) -> None:
    assert await asyncio.to_thread(becomes_true, lambda: bool(condition()), 10)


@pytest.mark.real("redis")
async def test_what_keeps_all_shards_waiting_is_said_at_once_and_when_it_is_over(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "HEARTBEAT", 0.02)
    told: list[str] = []
    job: Any = SimpleNamespace(index=0)
    crew, client = Waiting(), await connected(redis_url)
    running = asyncio.create_task(Fleet(Commons(client, "waits"), crew, tmp_path, 1, None, told.append).run([job]))
    await crew.begun.wait()
    try:
        await client.config_set("maxmemory", 1)
        await _until(lambda: told)
    finally:
        await client.config_set("maxmemory", 0)
    await _until(lambda: told[1:])
    crew.kill()
    assert [ended.code for ended in await running] == [0]
    await client.aclose()
    assert told[0].startswith("Redis refuses every visit (OutOfMemoryError: ")
    assert told[1:] == [""]


@pytest.mark.real("redis")
async def test_a_shard_at_work_that_is_not_heard_of_any_more_is_named(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "HEARTBEAT", 0.02)
    monkeypatch.setattr(roll, "SILENCE", 0.2)
    told: list[str] = []
    jobs: Any = [SimpleNamespace(index=index) for index in range(3)]
    crew, client = Waiting(), await connected(redis_url)
    held = Commons(client, "hangs")
    running = asyncio.create_task(Fleet(held, crew, tmp_path, 3, None, told.append).run(jobs))
    await crew.begun.wait()
    await asyncio.sleep(0.05)
    await held.visit(Visit(shards=3, shard="1", life="one"))
    await _until(lambda: told)
    await held.visit(Visit(shards=3, shard="1", life="one", number=1))
    await _until(lambda: told[1:])
    crew.kill()
    await running
    await client.aclose()
    assert told[0].startswith("shard-1: not heard of for ")
    assert told[1] == ""


@pytest.mark.real("redis")
async def test_a_shard_that_starts_while_redis_is_away_waits_for_it(redis_server: RedisServer) -> None:
    redis_server.stop()
    waiting = asyncio.create_task(commons.in_time(redis_server.url, 10))
    await asyncio.sleep(0.1)
    await asyncio.to_thread(redis_server.start)
    await (await waiting).aclose()
    redis_server.stop()
    with pytest.raises(ConfigurationError, match="no Redis answers"):
        await commons.in_time(redis_server.url, 0.1)


async def _process(url: str) -> int:
    client = await connected(url)
    number: int = (await client.info("server"))["process_id"]
    await client.aclose()
    return number


@pytest.mark.real("redis")
async def test_a_redis_of_our_own_that_dies_is_started_again_at_the_same_place_and_leaves_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(server.URL, raising=False)
    monkeypatch.setattr(server, "AGAIN", 0.01)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    said: list[str] = []
    async with meeting_place(None, said.append) as url:
        first = await _process(url)
        os.kill(first, signal.SIGKILL)
        await _until(lambda: said)
        await (await commons.in_time(url, 10)).aclose()
        second = await _process(url)
    assert first != second
    assert not is_alive(second)
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        """Find no package."""

    monkeypatch.setattr(commons, "find_spec", nowhere)
    with pytest.raises(ConfigurationError, match=r"pip install 'turntide\[redis\]'"):
        require_client("redis")

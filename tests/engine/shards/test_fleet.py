"""Shards of one run side by side, over a real Redis and a simulated provider."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated import Config, SimulatedServer
from turntide.adapters.simulated.config import Limits
from turntide.engine.identity import identity, settings_of
from turntide.engine.journal import scan
from turntide.engine.shards import worker
from turntide.engine.shards.commons import Commons, cap_of, connected
from turntide.engine.shards.fleet import Fleet, spent
from turntide.engine.shards.folder import open_whole, shard_folder
from turntide.engine.shards.worker import Ended, Job, working
from turntide.engine.spec import ModelSpec, Settings, Spec

from ...support.servers import RedisServer
from ...support.toy import TURNS, Toy, run_toy

pytestmark = pytest.mark.real("redis")

SHARDS, UNITS = 3, 30
MODEL = "sim/echo?latency=0.02"


class SameLoop:
    """A crew that needs no process: every shard is a task of the test's own loop."""

    async def __aenter__(self) -> SameLoop:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is left."""

    async def run(self, job: Job) -> Ended:
        return await working(job)

    def kill(self) -> None:
        raise AssertionError("nobody was to be killed")


@pytest.fixture(autouse=True)
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the small benchmark an installed one."""

    class Installed:
        @asynccontextmanager
        async def open(self, options: object, *, seed: int, limit: int | None) -> AsyncGenerator[Toy]:
            yield Toy(tmp_path / "data", UNITS)

    def installed(name: str) -> Installed:
        return Installed()

    monkeypatch.setattr(worker, "benchmark_of", installed)


@pytest.fixture
def prices(tmp_path: Path) -> str:
    table = tmp_path / "prices.toml"
    table.write_text(
        f'[[price]]\nmodels = ["{MODEL}"]\nfrom = 2025-01-01\ninput = "2"\noutput = "8"\nsource = "ours"\n'
    )
    return str(table)


@pytest.fixture
def server() -> Iterator[SimulatedServer]:
    with SimulatedServer.start(Config(limits=Limits(requests_per_minute=6_000, window=1))) as server:
        yield server


def _spec(**settings: Any) -> Spec:
    given = Settings(sql_workers=1, backoff=0.02, concurrency=16, **settings)
    models = [ModelSpec(id=MODEL, options={"max_tokens": 100})]
    return Spec(benchmark="toy", models=models, shards=SHARDS, settings=given)


async def _asked(server: SimulatedServer, requests: int) -> None:
    """Return when the provider has had so many requests."""
    while True:
        seen = server.stats()["requests"]
        assert isinstance(seen, int)
        if seen >= requests:
            return
        await asyncio.sleep(0.02)


class Shards:
    """A run in shards that can be gone on with."""

    def __init__(self, folder: Path, redis: str, url: str) -> None:
        self.folder, self._redis = folder, redis
        self._environ = {"TURNTIDE_SIM_BASE_URL": url}

    @asynccontextmanager
    async def opened(self, spec: Spec) -> AsyncGenerator[tuple[Fleet, list[Job]]]:
        toy = Toy(self.folder.parent / "data", UNITS)
        manifest = open_whole(self.folder, identity(spec, toy), settings_of(spec), SHARDS)
        commons = Commons(await connected(self._redis), manifest.run)
        async with SameLoop() as crew:
            yield (
                Fleet(commons, crew, self.folder, SHARDS, cap_of(spec.settings.max_cost)),
                [self._job(spec, index, manifest.run) for index in range(SHARDS)],
            )
        await commons.aclose()

    async def run(self, spec: Spec) -> list[int]:
        async with self.opened(spec) as (fleet, jobs):
            return [ended.code for ended in await fleet.run(jobs)]

    def _job(self, spec: Spec, index: int, run: str) -> Job:
        return Job(
            spec=spec,
            folder=str(self.folder),
            index=index,
            run=run,
            redis=self._redis,
            cwd=os.getcwd(),  # noqa: PTH109
            environ=self._environ,
        )

    def lines(self, *kinds: str) -> list[dict[str, Any]]:
        journals = [shard_folder(self.folder, index) / "journal.jsonl" for index in range(SHARDS)]
        return [dict(line) for journal in journals for line in scan(journal) if line["k"] in kinds]

    def spent(self) -> Decimal:
        return sum((spent(shard_folder(self.folder, index)) for index in range(SHARDS)), Decimal(0))


async def test_shards_come_to_what_one_process_does(tmp_path: Path, redis_url: str, server: SimulatedServer) -> None:
    shards = Shards(tmp_path / "cut", redis_url, server.base_url)
    assert await shards.run(_spec()) == [0] * SHARDS
    assert server.stats()["by_status"] == {"200": UNITS * TURNS}
    uncut = msgspec.structs.replace(_spec(), shards=None)
    await run_toy(tmp_path / "whole", server.base_url, units=UNITS, spec=uncut)
    whole = [dict(line) for line in scan(tmp_path / "whole" / "journal.jsonl") if line["k"] == "record"]
    told, expected = ({(each["u"], each["s"]): each["fields"] for each in t} for t in (shards.lines("record"), whole))
    assert told == expected
    assert all(len(list(scan(shard_folder(shards.folder, index) / "journal.jsonl"))) > 9 for index in range(SHARDS))


async def test_shards_end_at_one_cap_that_they_never_pass_and_go_on_with_a_higher_one(
    tmp_path: Path, redis_url: str, server: SimulatedServer, prices: str
) -> None:
    shards = Shards(tmp_path / "cut", redis_url, server.base_url)
    assert 4 in await shards.run(_spec(max_cost="0.02", prices=prices))
    assert Decimal("0.018") <= shards.spent() <= Decimal("0.02")
    assert any("spent by all shards" in reason for line in shards.lines("part") for reason in line.get("reasons", ()))
    assert await shards.run(_spec(max_cost="5", prices=prices)) == [0] * SHARDS
    assert Counter(line["u"] for line in shards.lines("end")).most_common(1)[0][1] == 1
    assert len(shards.lines("end")) == UNITS
    assert server.stats()["paid_twice"] == 0


async def test_told_to_end_all_shards_let_their_calls_land(
    tmp_path: Path, redis_url: str, server: SimulatedServer
) -> None:
    shards = Shards(tmp_path / "cut", redis_url, server.base_url)
    async with shards.opened(_spec()) as (fleet, jobs):
        running = asyncio.create_task(fleet.run(jobs))
        await _asked(server, 20)
        fleet.end()
        assert {ended.code for ended in await running} <= {130, 0}
    assert len(shards.lines("sent")) == len(shards.lines("answer")) < UNITS * TURNS


async def test_a_redis_that_dies_and_forgets_costs_a_pause_and_neither_money_nor_answers(
    tmp_path: Path, redis_server: RedisServer, server: SimulatedServer, prices: str
) -> None:
    shards = Shards(tmp_path / "cut", redis_server.url, server.base_url)
    async with shards.opened(_spec(max_cost="5", prices=prices)) as (fleet, jobs):
        running = asyncio.create_task(fleet.run(jobs))
        await _asked(server, 20)
        redis_server.stop()
        await asyncio.sleep(0.1)
        await asyncio.to_thread(redis_server.start)
        assert [ended.code for ended in await running] == [0] * SHARDS
    assert server.stats()["paid_twice"] == 0
    assert len(shards.lines("sent")) == len(shards.lines("answer")) == UNITS * TURNS


async def test_a_shard_that_is_gone_is_refused_before_anything_is_paid_again(
    tmp_path: Path, redis_url: str, server: SimulatedServer
) -> None:
    shards = Shards(tmp_path / "cut", redis_url, server.base_url)
    async with shards.opened(_spec()):
        pass
    (tmp_path / "cut" / "shard-2").rename(tmp_path / secrets.token_hex(4))
    with pytest.raises(Exception, match="shard-2 is gone"):
        await shards.run(_spec())


async def test_a_shard_whose_redis_stays_away_ends_resumable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.05)
    job = Job(spec=_spec(), folder=str(tmp_path), index=0, run="run", redis="redis://127.0.0.1:9/0", cwd=str(tmp_path))
    ended = await working(job)
    assert ended.code == 3
    assert ended.message.startswith("no Redis answers at redis://127.0.0.1:9/0: ")


async def test_a_redis_that_dies_before_the_first_visit_is_waited_for(
    tmp_path: Path, redis_server: RedisServer, server: SimulatedServer
) -> None:
    async with Shards(tmp_path / "cut", redis_server.url, server.base_url).opened(_spec()) as (fleet, jobs):
        redis_server.stop()
        running = asyncio.create_task(fleet.run(jobs))
        await asyncio.sleep(0.1)
        assert not running.done()
        await asyncio.to_thread(redis_server.start)
        assert [ended.code for ended in await running] == [0] * SHARDS


async def test_a_redis_that_stays_away_or_refuses_the_first_visit_begins_no_run(
    tmp_path: Path, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turntide.engine.shards.fleet.BEGINNING", 0.1)
    shards = Shards(tmp_path / "cut", redis_server.url, "")
    async with shards.opened(_spec()) as (fleet, jobs):
        client = await connected(redis_server.url)
        await client.config_set("maxmemory", 1)
        with pytest.raises(ConfigurationError, match="Redis refuses every visit"):
            await fleet.run(jobs)
        await client.aclose()
        redis_server.stop()
        with pytest.raises(ConfigurationError, match="Redis does not answer"):
            await fleet.run(jobs)
    assert not shards.lines("sent")

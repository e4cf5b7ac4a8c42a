"""Working memory: the same in process and in Redis, and what happens when Redis does not play along."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.enterprisemem.memory.redis_working import RedisWorking
from turntide.datasets.enterprisemem.memory.working import InProcessWorking, WorkingMemory
from turntide.engine.errors import Unfinished

from ....support.episodes import episode
from ....support.servers import RedisServer, free_port


@pytest.fixture(params=["in process", pytest.param("redis", marks=pytest.mark.real("redis"))])
async def working(request: pytest.FixtureRequest) -> AsyncIterator[WorkingMemory]:
    if request.param == "in process":
        memory: WorkingMemory = InProcessWorking()
    else:
        server: RedisServer = request.getfixturevalue("redis_server")
        memory = await RedisWorking.open(server.url, "run:1")
    yield memory
    await memory.aclose()


async def test_a_window_holds_the_last_turns_oldest_first(working: WorkingMemory) -> None:
    turns = [episode(n, f"q{n}", turn=n, sql="\ud800", state={"key": "ü'\n", "year": 2024}) for n in range(1, 8)]
    for turn in turns:
        await working.remember("m/B/S1", turn)
    assert await working.recent("m/B/S1", 8, 2) == tuple(turns[5:])
    assert await working.recent("m/B/S1", 3, 5) == tuple(turns[:2])
    assert await working.recent("m/B/S1", 1, 5) == ()
    assert await working.recent("m/B/S1", 8, 0) == ()


async def test_remembering_a_turn_again_keeps_one(working: WorkingMemory) -> None:
    for _ in range(3):
        await working.remember("s", episode(0, turn=1))
    assert await working.recent("s", 2, 5) == (episode(0, turn=1),)


async def test_sessions_and_condition_runs_share_nothing_and_a_session_can_be_cleared(working: WorkingMemory) -> None:
    await working.remember("m/B/S1", episode(0, "one", turn=1))
    await working.remember("m/C/S1", episode(0, "other", turn=1))
    await working.clear("m/B/S1")
    assert [turn.question for turn in await working.recent("m/C/S1", 2, 5)] == ["other"]
    with pytest.raises((KeyError, Unfinished)):
        await working.recent("m/B/S1", 2, 5)


@pytest.mark.real("redis")
async def test_a_thousand_dialogues_share_one_connection_and_few_round_trips(redis_server: RedisServer) -> None:
    memory = await RedisWorking.open(redis_server.url, "run:1")

    async def dialogue(name: str) -> None:
        for turn in range(1, 4):
            earlier = await memory.recent(name, turn, 5)
            assert [item.turn for item in earlier] == list(range(1, turn))
            await memory.remember(name, episode(turn, turn=turn))

    await asyncio.gather(*(dialogue(f"S{number}") for number in range(1_000)))
    statistics: dict[str, Any] = await memory._client.info()  # pyright: ignore[reportPrivateUsage]
    assert statistics["connected_clients"] <= 2
    assert statistics["total_reads_processed"] < 400  # 8,000 commands
    await memory.aclose()


@pytest.mark.real("redis")
async def test_another_attempt_does_not_see_what_an_earlier_one_left_in_redis(redis_server: RedisServer) -> None:
    first = await RedisWorking.open(redis_server.url, "run:1")
    await first.remember("S1", episode(0, turn=1))
    second = await RedisWorking.open(redis_server.url, "run:2")
    with pytest.raises(Unfinished, match="lost turn 1"):
        await second.recent("S1", 2, 5)
    await first.aclose()
    await second.aclose()


@pytest.mark.real("redis")
async def test_a_redis_that_dies_stops_the_dialogue_and_one_that_comes_back_empty_is_noticed(
    redis_server: RedisServer,
) -> None:
    memory = await RedisWorking.open(redis_server.url, "run:1")
    await memory.remember("S1", episode(0, turn=1))
    redis_server.stop()
    with pytest.raises(Unfinished, match="Redis failed") as stopped:
        await memory.recent("S1", 2, 5)
    assert stopped.value.why == "infrastructure"
    redis_server.start()
    with pytest.raises(Unfinished, match="lost turn 1 of S1"):
        await memory.recent("S1", 2, 5)
    await memory.remember("S1", episode(0, turn=1))  # the connection is back by itself
    assert await memory.recent("S1", 2, 5) == (episode(0, turn=1),)
    await memory.aclose()


@pytest.mark.real("redis")
async def test_something_else_under_our_key_stops_the_dialogue(redis_server: RedisServer) -> None:
    memory = await RedisWorking.open(redis_server.url, "run:1")
    client: Any = memory._client  # pyright: ignore[reportPrivateUsage]
    await client.hset("turntide:run:1:S1", 1, b'{"session": 3}')
    await client.set("turntide:run:1:S2", "text")
    with pytest.raises(Unfinished, match="something else for turn 1 of S1"):
        await memory.recent("S1", 2, 5)
    with pytest.raises(Unfinished, match="WRONGTYPE"):
        await memory.recent("S2", 2, 5)
    await memory.aclose()


async def test_a_redis_that_is_not_there_is_named_at_the_start_without_its_password() -> None:
    with pytest.raises(ConfigurationError, match=r"no Redis answers at redis://127\.0\.0\.1") as refused:
        await RedisWorking.open(f"redis://me:hunter2@127.0.0.1:{free_port()}/0", "run:1")
    assert "hunter2" not in str(refused.value)


async def test_a_redis_that_hangs_is_given_up_and_a_cancelled_dialogue_harms_no_other() -> None:
    release = asyncio.Event()

    class Pipeline:
        def __init__(self) -> None:
            self._commands = 0

        def execute_command(self, *_: object) -> None:
            self._commands += 1

        def __len__(self) -> int:
            return self._commands

        async def execute(self, *, raise_on_error: bool) -> list[Any]:
            assert not raise_on_error
            await release.wait()
            return [1] * self._commands

    class Client:
        def pipeline(self, *, transaction: bool) -> Pipeline:
            assert not transaction
            return Pipeline()

        async def aclose(self) -> None:
            release.set()

    memory = RedisWorking(Client(), "run:1")
    doomed = asyncio.create_task(memory.clear("S1"))
    other = asyncio.create_task(memory.clear("S2"))
    await asyncio.sleep(0)
    doomed.cancel()
    await asyncio.sleep(0)
    release.set()
    await other
    assert doomed.cancelled()
    await memory.aclose()

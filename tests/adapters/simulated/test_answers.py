"""Answers are a function of the model's configuration and the request's body, and of nothing else."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from turntide.adapters.simulated.latency import latency

if TYPE_CHECKING:
    from .conftest import Start

QUERIES = ("SELECT 1;", "WITH a AS (SELECT 2 AS x) SELECT x FROM a -- done", "select 'it''s', 2 order by 1")
EVERY_KIND = "wrong=0.1&preamble=0.1&fence=0.1&syntax=0.1&empty=0.1&cut=0.1&refuse=0.1&filter=0.1"


def rows(query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:")) as database:
        return database.execute(query).fetchall()


async def test_equal_requests_get_equal_bytes_in_any_order_through_faults_and_retries(start: Start) -> None:
    prompts = [f"SELECT {number} FROM t" for number in range(60)]

    async def sweep(seed: int, **config: Any) -> dict[str, bytes]:
        client = await start(**config)
        answers: dict[str, bytes] = {}

        async def ask(prompt: str) -> None:
            reply = await client.ask(prompt, model=f"sim/echo?{EVERY_KIND}", key=f"{seed}-{prompt}")
            while reply.status_code not in (200, 400):
                reply = await client.ask(prompt, model=f"sim/echo?{EVERY_KIND}", key=f"{seed}-{prompt}")
            answers[prompt] = reply.content

        await asyncio.gather(*map(ask, random.Random(seed).sample(prompts, len(prompts))))
        return answers

    calm = await sweep(1)
    stormy = await sweep(2, latency="uniform:0:0.02", faults={"500": 0.3, "429": 0.2})
    assert calm == stormy
    assert len(set(calm.values())) > 40


async def test_seeds_and_names_change_which_prompts_fail(start: Start) -> None:
    client = await start()

    async def failing(model: str) -> set[int]:
        asked = range(60)
        texts = [await client.text(f"SELECT {number}", model=model) for number in asked]
        return {number for number in asked if texts[number] == ""}

    first = await failing("echo?empty=0.5")
    assert first == await failing("echo?empty=0.5")
    assert first != await failing("echo?empty=0.5&seed=1")
    assert 15 < len(first) < 45


async def test_the_requests_own_seed_is_part_of_the_prompt(start: Start) -> None:
    client = await start()
    texts = [await client.text("SELECT 1", model="echo?empty=0.5", seed=seed) for seed in range(30)]
    assert len(set(texts)) == 2


@pytest.mark.parametrize("query", QUERIES)
async def test_a_wrong_query_runs_and_loses_its_rows(start: Start, query: str) -> None:
    client = await start()
    assert rows(await client.text(query, model="echo?wrong=1")) == []


@pytest.mark.parametrize("query", QUERIES)
async def test_a_garbled_query_still_begins_like_one_and_does_not_parse(start: Start, query: str) -> None:
    client = await start()
    garbled = await client.text(query, model="echo?syntax=1")
    assert garbled[:4] == query[:4]
    with pytest.raises(sqlite3.OperationalError, match=r"syntax error|unrecognized token"):
        rows(garbled)


async def test_each_mistake_shows_itself(start: Start) -> None:
    client = await start()

    async def choice(kind: str) -> dict[str, Any]:
        return (await client.ask("SELECT a, b FROM t", model=f"echo?{kind}=1")).json()["choices"][0]

    assert (await choice("preamble"))["message"]["content"].endswith("\n\nSELECT a, b FROM t")
    assert (await choice("fence"))["message"]["content"] == "```sql\nSELECT a, b FROM t\n```"
    assert (await choice("empty"))["message"]["content"] == ""
    cut = await choice("cut")
    assert "SELECT a, b FROM t".startswith(cut["message"]["content"])
    assert cut["finish_reason"] == "length"
    assert (await choice("refuse"))["message"]["content"] is None
    assert await client.text("one two", model="echo?wrong=1") == "two one"
    filtered = await client.ask("x", model="echo?filter=1")
    assert (filtered.status_code, filtered.json()["error"]["code"]) == (400, "content_filter")
    assert (await client.ask("x", model="echo?substitute=1")).json()["model"] == "echo?substitute=1-substitute"
    assert "usage" not in (await client.ask("x", model="echo?unmetered=1")).json()
    made = {"cut", "empty", "fence", "filter", "preamble", "refuse", "substitute", "unmetered", "wrong"}
    assert (await client.stats())["by_mistake"] == dict.fromkeys(made, 1)


async def test_usage_is_a_quarter_of_the_bytes_and_holds_to_max_tokens(start: Start) -> None:
    client = await start(cached_share=0.5, reasoning_tokens=3)
    whole = (await client.ask("ä" * 8)).json()
    assert whole["usage"]["prompt_tokens"] == 4
    assert whole["usage"]["prompt_tokens_details"]["cached_tokens"] == 2
    assert whole["usage"]["completion_tokens"] == 7
    cut = (await client.ask("abcdefgh", max_tokens=4)).json()
    assert cut["choices"][0]["message"]["content"] == "abcd"
    assert cut["choices"][0]["finish_reason"] == "length"
    spent = (await client.ask("abcdefgh", max_tokens=2)).json()
    assert (spent["choices"][0]["message"]["content"], spent["usage"]["completion_tokens"]) == ("", 2)


@pytest.mark.parametrize(
    ("spec", "draws"),
    [(0.2, (0.2, 0.2)), ("uniform:1:3", (1.0, 2.0)), ("lognormal:2:0.5", (0.1, 2.0))],
)
def test_latencies_rise_with_the_draw(spec: float | str, draws: tuple[float, float]) -> None:
    seconds = latency(spec)
    low, middle = seconds(0.0), seconds(0.5)
    assert (round(low, 1), round(middle, 6)) == draws
    assert low <= middle <= seconds(0.999999)

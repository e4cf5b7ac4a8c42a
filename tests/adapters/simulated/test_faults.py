"""Each fault, seen from the client."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import httpx
import pytest

from ...support.time import HandClock

if TYPE_CHECKING:
    from .conftest import Client, Start

BODY = json.dumps({"model": "echo", "messages": [{"role": "user", "content": "hello"}]}).encode()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_error_statuses(start: Start, status: int) -> None:
    client = await start(faults={str(status): 1.0}, retry_after=1.2)
    reply = await client.ask()
    assert reply.status_code == status
    if status == 429:
        assert (reply.headers["retry-after"], reply.headers["retry-after-ms"]) == ("2", "1200")
    if status in (502, 503):
        assert reply.headers["content-type"] == "text/html"
    else:
        assert reply.json()["error"]["message"]
    assert (await client.stats())["by_fault"] == {str(status): 1}


async def test_faults_are_drawn_anew_for_every_attempt_so_that_retries_get_through(start: Start) -> None:
    client = await start(faults={"500": 0.5})

    async def attempts(number: int) -> int:
        count = 1
        while (await client.ask(key=f"k{number}")).status_code != 200:
            count += 1
        return count

    first = [await attempts(number) for number in range(40)]
    assert 1 < max(first) < 20
    await client.http.post(client.base_url.removesuffix("/v1") + "/reset")
    assert [await attempts(number) for number in range(40)] == first


async def test_an_answered_call_is_answered_again_whatever_the_faults(start: Start) -> None:
    client = await start(faults={"500": 0.5})
    while (await client.ask(key="k")).status_code != 200:
        pass
    assert [(await client.ask(key="k")).status_code for _ in range(20)] == [200] * 20


async def test_a_stalled_call_never_ends_and_is_over_when_the_client_leaves(start: Start) -> None:
    client = await start(faults={"stall": 1.0})
    with pytest.raises(httpx.ReadTimeout):
        await client.http.post(client.base_url + "/chat/completions", content=BODY, timeout=0.1)
    stats = await client.stats()
    while stats["in_flight"]["now"]:
        stats = await client.stats()
    assert (stats["by_status"], stats["answered"]) == ({"none": 1}, 0)


async def test_a_late_answer_is_paid_even_when_nobody_waits_for_it(start: Start) -> None:
    client = await start(faults={"late": 1.0}, late_after=0.2)
    with pytest.raises(httpx.ReadTimeout):
        await client.http.post(
            client.base_url + "/chat/completions", content=BODY, headers={"idempotency-key": "k"}, timeout=0.05
        )
    assert (await client.ask(key="k")).status_code == 200
    assert (await client.stats())["paid_twice"] == 1


async def test_a_drip_sends_byte_after_byte_to_the_end(start: Start) -> None:
    client = await start(faults={"drip": 1.0}, drip_every=0.0)
    assert (await client.ask("hi")).json()["choices"][0]["message"]["content"] == "hi"


async def test_a_slow_drip_outlasts_a_time_out_between_bytes(start: Start) -> None:
    client = await start(faults={"drip": 1.0}, drip_every=2.0)
    got = await client.raw(BODY, seconds=0.8)
    assert got.startswith(b"HTTP/1.1 200 OK\r\n")
    assert got.partition(b"\r\n\r\n")[2] in (b"", b"{")


@pytest.mark.parametrize("fault", ["reset", "reset-unread"])
async def test_a_reset_is_a_reset(start: Start, fault: str) -> None:
    client = await start(faults={fault: 1.0})
    with pytest.raises(ConnectionResetError):
        await client.raw(BODY, "idempotency-key: k")
    stats = await client.stats()
    assert (stats["by_fault"], stats["by_status"]) == ({fault: 1}, {"none": 1})


async def test_an_unread_reset_does_not_wait_for_the_body(start: Start) -> None:
    client = await start(faults={"reset-unread": 1.0})
    with pytest.raises(ConnectionResetError):
        await client.raw(b"", "idempotency-key: k", length=5_000_000)


async def test_a_torn_reply_promises_more_than_it_brings(start: Start) -> None:
    client = await start(faults={"torn": 1.0})
    with pytest.raises(httpx.RemoteProtocolError):
        await client.ask()
    stats = await client.stats()
    assert (stats["by_status"], stats["answered"]) == ({"200": 1}, 0)


async def test_a_malformed_reply_is_whole_and_not_json(start: Start) -> None:
    client = await start(faults={"malformed": 1.0})
    reply = await client.ask()
    assert reply.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        reply.json()


async def test_a_duplicate_follows_its_reply_on_the_same_connection(start: Start) -> None:
    client = await start(faults={"duplicate": 1.0})
    got = await client.raw(BODY, seconds=0.2)
    assert got.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert got.count(b'"content":"hello"') == 2


async def test_a_models_own_faults_replace_the_servers(start: Start) -> None:
    client = await start(faults={"500": 1.0}, models={"calm": {"reader": "echo", "faults": {}}})
    assert [(await client.ask(model=name)).status_code for name in ("calm", "echo", "echo?529=1&500=0")] == [
        200,
        500,
        529,
    ]


async def test_a_storm_strikes_at_the_end_of_each_period_and_nothing_else_does_meanwhile(
    start: Start, clock: HandClock
) -> None:
    storm = {"every": 10, "lasts": 2, "faults": {"503": 1.0}}
    client = await start(
        storms=[storm], faults={"500": 1.0}, models={"calm": {"reader": "echo", "faults": {}}}, clock=clock
    )
    seen: list[list[int]] = []
    for second in range(11):
        seen.append([(await client.ask(str(second), model=name)).status_code for name in ("echo", "calm")])
        clock.now += 1
    assert seen == [[500, 200]] * 8 + [[503, 503]] * 2 + [[500, 200]]


async def test_a_storm_may_strike_before_the_body_is_read(start: Start) -> None:
    client = await start(storms=[{"every": 1, "lasts": 1, "faults": {"reset-unread": 1.0}}])
    with pytest.raises(ConnectionResetError):
        await client.raw(BODY, "idempotency-key: k")


async def refused(client: Client, **more: str) -> tuple[int, str | None]:
    reply = await client.ask(**more)
    return reply.status_code, reply.json()["error"]["code"]


async def test_keys_lengths_quotas_and_unknown_models_are_refused_in_the_providers_words(start: Start) -> None:
    client = await start(
        context_tokens=10,
        models={"poor": {"reader": "echo", "limits": {"quota": 1}}},
    )
    assert await refused(client, content="x" * 44) == (400, "context_length_exceeded")
    assert await refused(client, model="gpt") == (404, "model_not_found")
    assert await refused(client, model="echo?nonsense=1") == (404, "model_not_found")
    assert (await client.ask(model="poor")).status_code == 200
    assert await refused(client, model="poor") == (429, "insufficient_quota")
    assert await refused(await start(key="right")) == (401, "invalid_api_key")


async def test_limits_are_told_in_headers_and_kept(start: Start, clock: HandClock) -> None:
    client = await start(limits={"requests_per_minute": 2, "tokens_per_minute": 1000}, clock=clock)
    first = await client.ask("x" * 40, max_tokens=50)
    assert first.headers["x-ratelimit-limit-requests"] == "2"
    assert first.headers["x-ratelimit-remaining-requests"] == "1"
    assert first.headers["x-ratelimit-reset-requests"] == "30s"
    assert first.headers["x-ratelimit-remaining-tokens"] == "940"
    await client.ask()
    over = await client.ask(key="k")
    assert (over.status_code, over.headers["retry-after"]) == (429, "30")
    clock.now += 29
    assert (await client.ask(key="k")).headers["retry-after"] == "1"
    clock.now += 1
    assert (await client.ask(key="k")).status_code == 200
    assert (await client.stats())["early"] == 1


async def test_limits_in_flight_hold_over_the_wire(start: Start) -> None:
    client = await start(limits={"concurrent": 3}, latency=0.1)
    replies = await asyncio.gather(*(client.ask(str(number)) for number in range(8)))
    assert sorted(reply.status_code for reply in replies) == [200] * 3 + [429] * 5

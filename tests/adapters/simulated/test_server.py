"""The server as such: where it listens, what it administers, and that nothing breaks it."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated.config import Config, configured
from turntide.adapters.simulated.exchange import Simulation
from turntide.adapters.simulated.server import serve
from turntide.adapters.simulated.wire import WIRES

if TYPE_CHECKING:
    from .conftest import Start

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
likely_requests = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["echo", "sim/echo?cut=1", "?", "echo?wrong=", "script", "echo?seed=x"]) | json_values,
        "messages": st.lists(
            st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]) | json_values, "content": json_values}),
            max_size=2,
        )
        | json_values,
        "max_tokens": json_values,
        "seed": json_values,
    },
)
bodies = st.binary(max_size=60) | likely_requests.map(json.dumps).map(str.encode)
SIMULATION = Simulation(Config())


@given(bodies, st.none() | st.text(max_size=8))
def test_no_body_is_answered_with_anything_but_json_in_the_providers_shape(body: bytes, key: str | None) -> None:
    headers = {} if key is None else {"idempotency-key": key}
    with SIMULATION.call(WIRES[0], "/v1/chat/completions", headers) as call:
        plan = call.plan(body)
        call.sent(plan)
    reply = json.loads(plan.body)
    if plan.status == 200:
        assert isinstance(reply["choices"][0]["message"]["content"], str)
    else:
        assert plan.status in (400, 404)
        assert reply["error"]["message"]
    assert SIMULATION.tally.all.in_flight == 0


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b'{"model":' + b"[" * 100_000, ()),
        (b'{"model": "\xff"}', ()),
        (b"not gzip", ("content-encoding: gzip",)),
        (b"", ()),
        (b"x" * 1_500_000, ()),
    ],
    ids=["deep", "not utf-8", "broken gzip", "empty", "long"],
)
async def test_broken_bodies_get_a_400_over_the_wire_and_the_server_goes_on(
    start: Start, body: bytes, headers: tuple[str, ...]
) -> None:
    client = await start()
    got = await client.raw(body, *headers, seconds=0.2)
    assert got.startswith(b"HTTP/1.1 400 ")
    assert "error" in json.loads(got.partition(b"\r\n\r\n")[2])
    assert await client.text("still here") == "still here"


async def test_a_reader_that_breaks_is_a_500_and_one_traceback(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    client = await start(models={"broken": {"reader": "script", "settings": {"patterns": {"x": r"\9"}}}})
    with caplog.at_level(logging.ERROR):
        assert [(await client.ask("x", model="broken")).status_code for _ in range(3)] == [500] * 3
    assert len(caplog.records) == 1
    assert (await client.stats())["by_fault"] == {"internal": 3}


async def test_health_and_unknown_paths(start: Start) -> None:
    client = await start()
    root = client.base_url.removesuffix("/v1")
    assert (await client.http.get(root + "/health")).json() == {"status": "ok", "simulated": True}
    missing = await client.http.post(root + "/v1/embeddings", json={})
    assert (missing.status_code, "error" in missing.json()) == (404, True)
    assert (await client.http.get(client.base_url + "/chat/completions")).status_code == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
async def test_only_loopback_is_bound_unless_asked_explicitly(host: str) -> None:
    with pytest.raises(ConfigurationError, match="loopback"):
        async with serve(configured({"host": host})):
            pass


async def test_any_host_is_bound_when_asked_explicitly() -> None:
    async with serve(configured({"host": "0.0.0.0", "allow_remote": True})) as base_url:
        assert base_url.startswith("http://0.0.0.0:")


async def test_a_taken_port_is_a_plain_error(start: Start) -> None:
    client = await start()
    port = int(client.base_url.split(":")[2].split("/")[0])
    with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port}"):
        async with serve(configured({"port": port})):
            pass

"""What the server gives to whom, without a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import httpx
import pytest
import pytest_asyncio
from turntide.engine.cli import main
from turntide.results.tide.audit.server import serve
from turntide.results.tide.audit.store import Store

from .conftest import Begin

TURNTIDE = [sys.executable, "-m", "turntide.engine.cli", "tide", "audit", "serve"]


@dataclass
class Audit:
    """A served audit and a client without a token."""

    store: Store
    client: httpx.AsyncClient

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.client.get(path, headers=headers)

    async def put(self, name: str, path: str, body: object) -> httpx.Response:
        return await self.client.put(path, json=body, headers=self.bearer(name))

    def bearer(self, name: str) -> dict[str, str]:
        (token,) = (each.token for each in self.store.annotators() if each.name == name)
        return {"Authorization": f"Bearer {token}"}


@pytest_asyncio.fixture
async def audit(begin: Begin) -> AsyncGenerator[Audit]:
    store = begin()
    async with (
        serve(store, "127.0.0.1", 0) as origin,
        httpx.AsyncClient(base_url=origin, trust_env=False) as client,
    ):
        yield Audit(store, client)


HELD = ("/api/audit", "/api/tasks/0", "/api/tasks/5")
OPEN = ("/", "/audit.js", "/audit.css", "/common.js", "/page.css")


async def test_without_a_token_nothing_of_a_sample_is_given(audit: Audit) -> None:
    (token, *_) = (each.token for each in audit.store.annotators())
    for path in HELD:
        for value in ("", "Bearer", f"Bearer {token[:-1]}", f"Bearer {token}x", f"Basic {token}", "Bearer \u00e9"):
            reply = await audit.client.get(path, headers={b"authorization": value.encode()})
            assert reply.status_code == 401
            assert reply.text.startswith("Open the address that was printed for you")
    for path in OPEN:
        reply = await audit.get(path)
        assert reply.status_code == 200
        assert "web sales" not in reply.text
    assert (await audit.client.put("/api/tasks/0/answers/underspecified", json="yes")).status_code == 401
    assert (await audit.get("/audit.sqlite")).status_code == 404
    assert audit.store.answers("ana") == {}


async def test_a_foreign_name_is_refused_and_addresses_and_our_own_are_not(audit: Audit) -> None:
    for host in (
        "evil.example",
        "evil.example:8378",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "[::1].x",
        "",
    ):
        reply = await audit.get("/api/audit", Host=host, **audit.bearer("ana"))
        assert reply.status_code in (400, 421)
        assert "ana" not in reply.text
    for host in ("127.0.0.1:1", "localhost", "LOCALHOST:9000", "[::1]:8378", "192.168.1.5:8378"):
        assert (await audit.get("/api/audit", Host=host, **audit.bearer("ana"))).status_code == 200


async def test_every_answer_forbids_what_a_page_must_not_do(audit: Audit) -> None:
    for path in ("/", "/audit.js", "/api/audit", "/none"):
        headers = (await audit.get(path)).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert (headers["referrer-policy"], headers["cache-control"]) == ("no-referrer", "no-store")
        assert "access-control-allow-origin" not in headers
        assert "set-cookie" not in headers


async def test_annotators_see_their_own_answers_and_no_one_elses(audit: Audit) -> None:
    assert (await audit.put("ana", "/api/tasks/0/answers/underspecified", "no")).status_code == 200
    assert (await audit.put("ana", "/api/tasks/0/comment", "hm")).status_code == 200
    assert (await audit.put("ana", "/api/place", 4)).status_code == 200
    mine, others = [(await audit.get("/api/tasks/0", **audit.bearer(name))).json() for name in ("ana", "ben")]
    assert (mine["answers"], mine["comment"]) == ({"underspecified": "no"}, "hm")
    assert (others["answers"], others["comment"]) == ({}, "")
    assert mine["set"] == "Chain-only"
    assert set(mine) == {"set", "database", "calibration", "parts", "items", "answers", "comment"}
    places = [(await audit.get("/api/audit", **audit.bearer(name))).json()["place"] for name in ("ana", "ben")]
    assert places == [4, 0]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/tasks/0/answers/underspecified", "perhaps", 400),
        ("/api/tasks/0/answers/underspecified", 1, 400),
        ("/api/tasks/0/answers/coherence", "yes", 400),
        ("/api/tasks/0/comment", "x" * 10_001, 400),
        ("/api/tasks/0/comment", "x" * 70_000, 413),
        ("/api/tasks/9/comment", "x", 404),
        ("/api/tasks/-1/comment", "x", 404),
        ("/api/tasks/9999999999/comment", "x", 404),
        ("/api/place", 9, 400),
        ("/api/place", -1, 400),
        ("/api/place", "0", 400),
    ],
)
async def test_what_is_no_answer_is_refused_and_kept_nowhere(
    audit: Audit, path: str, body: object, status: int
) -> None:
    assert (await audit.put("ana", path, body)).status_code == status
    assert (audit.store.answers("ana"), audit.store.comments("ana"), audit.store.place("ana")) == ({}, {}, 0)


def test_another_host_must_be_asked_for(begin: Begin, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(begin().path)
    assert main(["tide", "audit", "serve", path, "--host", "0.0.0.0"]) == 2
    assert "--allow-remote" in capsys.readouterr().err
    words = [*TURNTIDE, path, "--host", "0.0.0.0", "--allow-remote", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "unencrypted" in process.stderr.readline()
        assert process.stdout.readline().startswith("ana  http://")
        process.terminate()
        assert process.wait(30) == 0

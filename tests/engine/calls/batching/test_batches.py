"""Whole runs in batches over the simulated provider's real batch APIs: the same results, and nothing paid twice."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated import SimulatedServer, serve
from turntide.adapters.simulated.config import Config, configured
from turntide.engine.errors import Unfinished
from turntide.engine.journal import scan
from turntide.engine.watch.live import Live
from turntide.engine.watch.summary import Summary
from turntide.results.operations import Operations
from turntide.results.reading import open_run

from ....support.journals import results
from ....support.lockstep import run_lockstep

MODELS = ["sim/echo", "sim/echo@responses", "sim/echo@anthropic"]
PRICES = """
[[price]]
models = ["sim/*"]
from = 2020-01-01
source = "test"
input = "100"
output = "100"
max_output = 50

[[batch]]
models = ["sim/*"]
from = 2020-01-01
source = "test"
factor = "0.5"
"""


def config(**batches: Any) -> Config:
    return configured({"batches": batches})


@asynccontextmanager
async def server(config: Config | None = None) -> AsyncGenerator[tuple[str, Callable[[], Awaitable[Any]]]]:
    """Serve in this loop; yield the base URL, and what fetches the server's counts."""
    async with serve(config or Config()) as base_url:

        async def stats() -> Any:
            async with httpx.AsyncClient(trust_env=False) as client:
                return (await client.get(base_url.removesuffix("/v1") + "/stats")).json()

        yield base_url, stats


def of_kind(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [line for line in scan(folder / "journal.jsonl") if line["k"] == kind]


async def alone(tmp_path: Path, model: str = "sim/echo", **more: Any) -> list[str]:
    """Return the results of the same run without batches."""
    async with serve(Config()) as base_url:
        assert (await run_lockstep(tmp_path / "alone", base_url, model=model, batch=False, **more)).exit_code == 0
    return results(tmp_path / "alone")


@pytest.mark.parametrize("model", MODELS)
async def test_dialogues_go_in_lock_step_and_come_to_the_same_results(tmp_path: Path, model: str) -> None:
    async with server() as (base_url, stats):
        summary = await run_lockstep(tmp_path / "run", base_url, model=model)
        counts = await stats()
    assert summary.exit_code == 0
    assert counts["batches"] == {"made": 2, "items": 24, "expired_items": 0, "replies_lost": 0}
    assert all(line["simulated"] for line in of_kind(tmp_path / "run", "answer"))
    assert results(tmp_path / "run") == await alone(tmp_path, model)


@pytest.mark.parametrize("model", ["sim/echo", "sim/echo@anthropic"])
async def test_of_expired_batches_only_what_is_missing_is_sent_again(tmp_path: Path, model: str) -> None:
    async with server(config(expire=0.4, error=0.05, lost=0.7, seconds=0.05)) as (base_url, stats):
        summary = await run_lockstep(tmp_path / "run", base_url, model=model)
        counts = await stats()
    assert summary.exit_code == 0
    assert results(tmp_path / "run") == await alone(tmp_path, model)
    failed = of_kind(tmp_path / "run", "fail")
    expired = [line for line in failed if line["kind"] == "timeout"]
    assert len(expired) == counts["batches"]["expired_items"] > 0
    assert counts["batches"]["items"] == 24 + len(failed)
    assert counts["batches"]["replies_lost"] > 0
    assert counts["paid_twice"] == 0
    assert summary.exposed == 0


async def test_a_batch_of_an_unknown_fate_is_found_and_not_made_again(tmp_path: Path) -> None:
    async with server(config(lost=1.0)) as (base_url, stats):
        assert (await run_lockstep(tmp_path / "run", base_url)).exit_code == 0
        counts = await stats()
    assert (counts["batches"]["made"], counts["paid_twice"]) == (2, 0)


@pytest.mark.parametrize("model", ["sim/echo", "sim/echo@anthropic"])
async def test_whatever_part_of_the_journal_a_crash_leaves_a_submitted_batch_is_not_paid_again(
    tmp_path: Path, model: str
) -> None:
    async with server() as (base_url, stats):
        await run_lockstep(tmp_path / "whole", base_url, model=model, units=2, turns=1)
        lines = (tmp_path / "whole" / "journal.jsonl").read_bytes().splitlines(keepends=True)
        submitted = max(place for place, line in enumerate(lines) if b'"k":"sent"' in line) + 1
        manifest = (tmp_path / "whole" / "manifest.json").read_bytes()
        ended = next(place for place, line in enumerate(lines) if b'"ended":' in line)
        for cut in range(submitted, ended + 1):
            folder = tmp_path / f"cut{cut}"
            folder.mkdir()
            (folder / "manifest.json").write_bytes(manifest)
            (folder / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
            summary = await run_lockstep(folder, base_url, model=model, units=2, turns=1)
            assert (summary.exit_code, summary.exposed) == (0, 0)
            assert results(folder) == results(tmp_path / "whole")
        counts = await stats()
    assert counts["batches"] == {"made": 1, "items": 2, "expired_items": 0, "replies_lost": 0}


async def test_a_batch_that_was_never_made_is_made_by_the_next_part(tmp_path: Path) -> None:
    killed = asyncio.create_task(run_lockstep(tmp_path / "run", "http://127.0.0.1:9", backoff=30.0))
    await written(tmp_path / "run", b'"k":"sent"', 12)
    killed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killed
    assert len(of_kind(tmp_path / "run", "sent")) == 12
    async with server() as (base_url, stats):
        summary = await run_lockstep(tmp_path / "run", base_url)
        counts = await stats()
    assert (summary.exit_code, summary.exposed) == (0, 0)
    assert counts["batches"]["items"] == 24
    assert {line["message"] for line in of_kind(tmp_path / "run", "fail")} == {
        "the process ended before the batch was made"
    }


async def written(folder: Path, text: bytes, times: int = 1) -> None:
    """Wait until the journal holds `text` so often."""
    journal = folder / "journal.jsonl"
    async with asyncio.timeout(20):
        while not journal.exists() or journal.read_bytes().count(text) < times:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def until_submitted(folder: Path, base_url: str, **settings: Any) -> Summary:
    """Run until the id of a batch is on disk, then end the run as Ctrl-C does."""
    lives: list[Live] = []
    run = asyncio.create_task(run_lockstep(folder, base_url, observe=lives.append, **settings))
    await written(folder, b'"id":"')
    lives[0].closing.begin(Unfinished("draining", "interrupted"))
    return await run


@pytest.mark.parametrize("batch", [True, False])
async def test_a_run_that_ends_leaves_its_batch_open_and_the_next_part_takes_it_in(tmp_path: Path, batch: bool) -> None:
    async with server(config(seconds=1.0)) as (base_url, stats):
        summary = await until_submitted(tmp_path / "run", base_url, turns=1)
        assert summary.exit_code == 130
        operations = Operations.of(open_run(tmp_path / "run"))
        assert [(each.calls, each.how) for each in operations.open_batches] == [(12, "")]
        assert (await run_lockstep(tmp_path / "run", base_url, turns=1, batch=batch)).exit_code == 0
        counts = await stats()
    assert (counts["answered"], counts["paid_twice"], counts["batches"]["made"]) == (12, 0, 1)


async def test_a_batch_costs_its_rate_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    settings: dict[str, Any] = {"prices": str(tmp_path / "prices.toml"), "max_cost": "100"}
    async with serve(Config()) as base_url:
        summary = await run_lockstep(tmp_path / "run", base_url, **settings)
        whole = await run_lockstep(tmp_path / "alone", base_url, batch=False, **settings)
    assert summary.known == whole.known / 2 > 0
    assert all("batch" in line for line in of_kind(tmp_path / "run", "answer"))
    assert not any("batch" in line for line in of_kind(tmp_path / "alone", "answer"))


async def test_a_cap_holds_over_all_calls_of_a_batch_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    cap = Decimal("0.03")  # of 12 calls that may cost 0.006 each
    most = Decimal(0)

    def watch(live: Live) -> None:
        async def look() -> None:
            nonlocal most
            while True:
                most = max(most, live.budget.committed)
                await asyncio.sleep(0.005)

        watching.append(asyncio.create_task(look()))

    watching: list[asyncio.Task[None]] = []
    async with serve(Config()) as base_url:
        settings: dict[str, Any] = {"prices": str(tmp_path / "prices.toml"), "observe": watch}
        summary = await run_lockstep(tmp_path / "run", base_url, max_cost=str(cap), **settings)
        assert summary.exit_code == 4
        assert 0 < most <= cap
        assert 0 < summary.known + summary.exposed <= cap
        assert len(of_kind(tmp_path / "run", "sent")) < 24
        assert (await run_lockstep(tmp_path / "run", base_url, max_cost="9", **settings)).exit_code == 0
    for task in watching:
        task.cancel()
    assert results(tmp_path / "run") == await alone(tmp_path)


async def test_a_batch_that_its_provider_lost_counts_at_its_worst_case_and_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    prices = str(tmp_path / "prices.toml")
    async with server(config(seconds=30.0)) as (base_url, _):
        await until_submitted(tmp_path / "run", base_url, turns=1, prices=prices)
    async with server() as (base_url, _):
        summary = await run_lockstep(tmp_path / "run", base_url, turns=1, prices=prices)
    assert summary.exit_code == 0
    assert summary.exposed > summary.known > 0


async def test_a_wrong_key_stops_the_model_before_anything_is_paid(tmp_path: Path) -> None:
    async with serve(Config(key="right")) as base_url:
        environ = {"OPENAI_API_KEY": "wrong-key-planted", "OPENAI_BASE_URL": base_url}
        summary = await run_lockstep(tmp_path / "run", "", model="openai/echo", environ=environ)
    assert summary.exit_code == 2
    assert "stopped" in summary.reasons[0]
    assert b"wrong-key-planted" not in (tmp_path / "run" / "journal.jsonl").read_bytes()


async def test_a_model_without_a_batch_api_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="gemini: no batch API"):
        await run_lockstep(tmp_path / "run", "http://127.0.0.1:9/v1", model="sim/gemini@gemini")
    assert not (tmp_path / "run").exists()


async def test_an_api_that_does_not_answer_leaves_the_run_resumable(tmp_path: Path) -> None:
    summary = await run_lockstep(tmp_path / "run", "http://127.0.0.1:9", retries=1)
    assert summary.exit_code == 3
    assert "http://127.0.0.1:9" in summary.reasons[0]
    async with server() as (base_url, _):
        assert (await run_lockstep(tmp_path / "run", base_url)).exit_code == 0


def test_killed_at_any_moment_a_run_in_batches_pays_nothing_twice(tmp_path: Path) -> None:
    chance = random.Random(5)
    folder, program = tmp_path / "run", str(Path(__file__).parents[3] / "support" / "lockstep.py")
    with SimulatedServer.start(config(seconds=0.3, lost=0.3)) as provider:
        command = [sys.executable, program, str(folder), provider.base_url, "sim/echo", "12"]
        code, kills = None, 0
        while code != 0:
            child = subprocess.Popen(command, stderr=subprocess.PIPE)
            size, deadline = _size(folder), time.monotonic() + 20
            while kills < 2 and child.poll() is None and _size(folder) == size and time.monotonic() < deadline:
                time.sleep(0.005)
            if kills < 2:
                time.sleep(chance.choice((0.0, 0.01, 0.05, 0.3)))
                child.send_signal(signal.SIGKILL)
                kills += 1
            _, errors = child.communicate(timeout=60)
            code = child.returncode
            assert code in (0, -signal.SIGKILL), errors.decode()
        counts: Any = provider.stats()
    assert (counts["answered"], counts["paid_twice"]) == (24, 0)
    assert len(of_kind(folder, "end")) == 12
    assert results(folder) == asyncio.run(alone(tmp_path))


def _size(folder: Path) -> int:
    journal = folder / "journal.jsonl"
    return journal.stat().st_size if journal.exists() else 0

"""What stops a run or a dialogue: it says why, ends with its code, and can be gone on with."""

from __future__ import annotations

import asyncio
import errno
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated import Config, SimulatedServer, serve
from turntide.adapters.simulated.config import configured
from turntide.engine import run as run_module
from turntide.engine.errors import RunError
from turntide.engine.journal.logfile import LogFile
from turntide.engine.run import execute
from turntide.engine.spec import Settings
from turntide.engine.sql.pool import SqlPool
from turntide.engine.sql.processes import SqlPoolError

from ..support.journals import answers, ends, kinds
from ..support.toy import TURNS, Toy, interrupted_when, run_toy, toy_spec


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


async def test_a_database_that_changes_under_a_run_is_noticed(tmp_path: Path) -> None:
    async with serve(Config(latency=0.02)) as base_url:
        run = asyncio.create_task(run_toy(tmp_path / "run", base_url))
        await asyncio.sleep(0.4)
        with (tmp_path / "data" / "numbers.sqlite").open("ab") as file:
            file.write(b"more")
        with pytest.raises(RunError, match=r"numbers.*changed"):
            await run
    assert kinds(tmp_path / "run")["tainted"] == 1


async def test_a_server_that_is_not_there_is_named_in_the_reasons(tmp_path: Path) -> None:
    settings = Settings(sql_workers=1, retries=0)
    summary = await run_toy(tmp_path / "run", "http://127.0.0.1:9", spec=toy_spec(settings=settings))
    assert summary.exit_code == 3
    assert "dialogues unfinished" in summary.reasons[0]
    assert "http://127.0.0.1:9" in summary.reasons[0]


async def test_a_run_that_ends_while_it_waits_for_a_busy_server_says_what_it_waited_for(tmp_path: Path) -> None:
    async with serve(configured({"faults": {"429": 1}})) as base_url:
        spec = toy_spec(settings=Settings(sql_workers=1))
        environ = {"TURNTIDE_SIM_BASE_URL": base_url}
        summary = await execute(
            spec,
            Toy(tmp_path / "data"),
            tmp_path / "run",
            interrupted_when(lambda counts: counts.last_failure),
            environ,
        )
    assert summary.state == "interrupted"
    assert any("the last failure was: HTTP 429" in reason for reason in summary.reasons)
    assert summary.reasons[0] == "interrupted"


async def test_a_full_disk_stops_the_run_resumable_and_space_finishes_it(
    tmp_path: Path, tiny_disk: Callable[[str], Path]
) -> None:
    disk = tiny_disk("size=64k")
    async with serve(Config()) as base_url:
        toy = Toy(tmp_path / "data", units=120)
        summary = await run_toy(disk / "run", base_url, toy=toy)
        assert summary.exit_code == 3
        assert "make room" in summary.reasons[0]
        left = shutil.disk_usage(disk).free
        (disk / "filler").write_bytes(b"x" * max(0, left - 4096))
        sent = kinds(disk / "run")["sent"]
        with pytest.raises(ConfigurationError, match=r"only [\d,]+ bytes are free there, .* paid for nothing"):
            await run_toy(disk / "run", base_url, toy=Toy(tmp_path / "data", units=120))
        assert kinds(disk / "run")["sent"] == sent
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
            while answers(tmp_path / "run") < 10:  # noqa: ASYNC110
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

"""Runs that are left alone: ended by the clock, by failures, model by model; and what they leave for the morning."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.simulated import Config, serve
from turntide.adapters.simulated.config import configured
from turntide.engine.cli import main
from turntide.engine.errors import Diverged
from turntide.engine.journal import scan
from turntide.engine.run import execute
from turntide.engine.spec import Settings, Spec
from turntide.engine.unit import Context, Unit
from turntide.engine.until import ENDING, Until
from turntide.engine.watch.summary import Summary

from ...support.toy import TURNS, Toy, run_toy, toy_spec

QUICK = Settings(sql_workers=1, retries=0, backoff=0.01, attempt_timeout=1.0)


def in_seconds(seconds: float) -> datetime:
    """Return the moment for which calls have so many seconds."""
    return datetime.now(UTC) + timedelta(seconds=ENDING + seconds)


async def run_until(folder: Path, base_url: str, moment: datetime, settings: Settings) -> Summary:
    toy, environ = Toy(folder.parent / "data"), {"TURNTIDE_SIM_BASE_URL": base_url}
    return await execute(toy_spec(settings=settings), toy, folder, environ=environ, until=Until(moment))


def kinds(folder: Path, *names: str) -> list[dict[str, Any]]:
    return [dict(line) for line in scan(folder / "journal.jsonl") if line["k"] in names]


async def test_a_run_ends_by_its_moment_with_every_call_landed_and_goes_on_without_one(tmp_path: Path) -> None:
    settings = Settings(sql_workers=1, concurrency=2, sql_timeout=0.5)
    async with serve(Config(latency=0.1)) as base_url:
        moment = in_seconds(2.5)
        summary = await run_until(tmp_path / "run", base_url, moment, settings)
        assert datetime.now(UTC) < moment
        assert (summary.state, summary.exit_code) == ("incomplete", 3)
        assert "--until" in summary.reasons[0]
        assert 0 < len(kinds(tmp_path / "run", "answer")) == len(kinds(tmp_path / "run", "sent")) < 30 * TURNS
        assert summary.exposed == 0
        again = await run_toy(tmp_path / "run", base_url)
    assert again.state == "complete"
    # The moment was this part's alone: nothing on disk would end the next one.
    assert "until" not in (tmp_path / "run" / "manifest.json").read_text()


async def test_a_part_that_ends_before_it_began_still_counts_what_is_done(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    async with serve(Config()) as base_url:
        await run_toy(folder, base_url, toy=Toy(tmp_path / "data", crash_in="0002"))
        summary = await run_until(folder, base_url, in_seconds(0.0), QUICK)
        assert (summary.state, summary.done, summary.planned) == ("incomplete", 29, 30)
        assert (await run_toy(folder, base_url)).done == 30
        whole = await run_until(folder, base_url, in_seconds(0.0), QUICK)
    assert (whole.state, whole.reasons) == ("complete", ())


async def test_a_call_that_would_outlast_the_moment_is_given_up_at_its_worst_case(tmp_path: Path) -> None:
    settings = Settings(sql_workers=1, concurrency=2, sql_timeout=0.2)
    async with serve(Config(latency=60)) as base_url:
        moment = in_seconds(3.0)
        summary = await run_until(tmp_path / "run", base_url, moment, settings)
        assert datetime.now(UTC) < moment
    assert summary.exit_code == 3
    failures = kinds(tmp_path / "run", "fail")
    assert failures
    assert {(line["kind"], line["paid"]) for line in failures} == {("timeout", True)}


DEATHS: dict[str, tuple[dict[str, Any], str, str]] = {
    "key": ({"key": "right"}, "echo", "stopped: "),
    "quota": ({"limits": {"quota": 2}}, "echo", "stopped: "),
    "unknown": ({}, "nothing", "does not exist"),
    "wait": ({"faults": {"429": 1}, "retry_after": 7200}, "echo", "parked: the server asks to wait 7200 s"),
    "failing": ({"faults": {"500": 1}}, "echo", "dialogues unfinished; the last failure was"),
    "hanging": ({"faults": {"stall": 1}}, "echo", "no complete reply within 1 s"),
    "nonsense": ({"faults": {"malformed": 1}}, "echo", "dialogues unfinished"),
}


@pytest.mark.parametrize("death", DEATHS)
async def test_a_model_whose_lane_dies_never_stops_the_others(tmp_path: Path, death: str) -> None:
    config, name, said = DEATHS[death]
    dead = f"openai/{name}"
    async with serve(configured(config)) as broken, serve(Config()) as base_url:
        environ = {"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": broken}
        spec = toy_spec(dead, "sim/echo", settings=QUICK)
        summary = await run_toy(tmp_path / "run", base_url, units=6, spec=spec, environ=environ)
    assert summary.models["sim/echo"].done == 6
    assert summary.models["sim/echo"].reason == ""
    assert summary.models[dead].done < 6
    assert said in summary.models[dead].reason
    assert summary.exit_code == 3


async def test_a_dead_model_stops_no_other_of_its_own_account(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        summary = await run_toy(tmp_path / "run", base_url, units=6, spec=toy_spec("sim/nothing", "sim/echo"))
    assert [model.done for model in summary.models.values()] == [0, 6]


def parking(*models: str) -> Spec:
    settings = Settings(sql_workers=1, retries=0, backoff=0.01, concurrency=1, max_errors=3)
    return toy_spec(*models, settings=settings)


async def test_a_model_is_parked_after_so_many_failed_dialogues_and_tried_again_by_a_resume(tmp_path: Path) -> None:
    spec = parking("openai/echo", "sim/echo")
    async with serve(Config()) as base_url:
        async with serve(Config(faults={"500": 1})) as broken:
            environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": broken}
            summary = await run_toy(tmp_path / "run", base_url, units=12, spec=spec, environ=environ)
        assert summary.exit_code == 3
        assert "parked: 3 dialogues failed (--max-errors)" in summary.models["openai/echo"].reason
        assert len(kinds(tmp_path / "run", "fail")) == 3
        assert summary.models["sim/echo"].done == 12
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": base_url}
        again = await run_toy(tmp_path / "run", base_url, units=12, spec=spec, environ=environ)
    assert again.state == "complete"


async def test_a_server_that_is_down_is_no_configuration_error_when_its_model_is_parked(tmp_path: Path) -> None:
    summary = await run_toy(tmp_path / "run", "http://127.0.0.1:9", units=12, spec=parking("sim/echo"))
    assert summary.exit_code == 3


class Watchful(Toy):
    """Looks for the summary of an earlier part while it talks."""

    stale = False

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        self.stale = self.stale or (self.folder.parent / "run" / "summary.json").exists()
        await super().dialogue(unit, ctx)


async def test_a_night_leaves_a_summary_that_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    spec = toy_spec("openai/echo", "sim/echo")
    async with serve(Config(key="right")) as strict, serve(Config()) as base_url:
        environ = {"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": strict}
        ended = await run_toy(folder, base_url, units=6, spec=spec, environ=environ)
        found = json.loads((folder / "summary.json").read_bytes())
        assert found == ended.to_json() | {"journal_bytes": (folder / "journal.jsonl").stat().st_size}
        assert (found["state"], found["exit_code"]) == ("incomplete", 3)
        assert (found["planned"], found["done"], found["left"]) == (12, 6, 6)
        assert (found["known_usd"], found["exposed_usd"]) == ("0", "0")
        dead = found["models"]["openai/echo"]
        assert (dead["done"], dead["left"]) == (0, 6)
        assert dead["reason"].startswith("openai/echo stopped: ")
        assert found["began"] <= dead["ended"] <= found["ended"]
        assert found["models"]["sim/echo"]["reason"] == ""
        assert found["next"] == f"turntide resume {folder}"

        assert main(["status", str(folder)]) == 0
        said = capsys.readouterr().out
        assert "it ended because: openai/echo stopped: " in said
        assert f"next: turntide resume {folder}" in said

        environ = {"OPENAI_API_KEY": "right", "OPENAI_BASE_URL": strict}
        toy = Watchful(tmp_path / "data", 6)
        await run_toy(folder, base_url, spec=spec, toy=toy, environ=environ)
        assert not toy.stale
        complete = (folder / "summary.json").read_bytes()
        assert json.loads(complete)["next"] == f"turntide report {folder}"
        await run_toy(folder, base_url, units=6, spec=spec, environ=environ)
    assert (folder / "summary.json").read_bytes() == complete


async def test_a_run_that_cannot_be_gone_on_with_says_so_in_its_summary(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    async with serve(Config()) as base_url:
        await run_toy(folder, base_url, toy=Toy(tmp_path / "data", 6, crash_in="0002"))

        class Changed(Toy):
            async def dialogue(self, unit: Unit, ctx: Context) -> None:
                ctx.record(changed=True)

        with pytest.raises(Diverged, match="another step was taken here"):
            await run_toy(folder, base_url, toy=Changed(tmp_path / "data", 6))
    found = json.loads((folder / "summary.json").read_bytes())
    assert (found["state"], found["exit_code"]) == ("unusable", 2)
    assert "diverged" in found["reasons"][0]

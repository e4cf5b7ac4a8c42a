"""The short forms of `make chaos`: each trial finds every invariant holding, and would say so if one did not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from ...conftest import missing

PARTS = {"clock": "libfaketime", "stores": "redis", "shards": "redis"}
"""What a trial needs that can be installed; root and its disks cannot."""

Held: TypeAlias = Callable[[str], dict[str, int]]


@pytest.fixture
def held(tmp_path: Path) -> Held:
    """Return what holds the short form of a trial and returns how often each claim was checked.

    It fails with what did not hold.
    """

    def hold(name: str) -> dict[str, int]:
        from bench.chaos.__main__ import main

        code = main(["--quick", "--only", name, "--json", str(tmp_path / "results.json")])
        (trial,) = json.loads((tmp_path / "results.json").read_text())["trials"]
        if trial["skipped"] and not trial["invariants"]:
            reason = trial["skipped"][0]
            missing(PARTS[name], reason) if name in PARTS else pytest.skip(reason)
        failed = [invariant for invariant in trial["invariants"] if invariant["failed"]]
        assert failed == []
        assert code == 0
        return {invariant["claim"]: invariant["checked"] for invariant in trial["invariants"]}

    return hold


def test_a_sweep_killed_at_random_instants_ends_with_the_report_of_one_that_nobody_disturbed(held: Held) -> None:
    checked = held("kills")
    assert checked["no process outlives the one that started it"] >= 3
    assert checked["what is known plus what is exposed stays under the cap"] >= 3
    assert checked["the report has the bytes of a sweep that nothing disturbed"] == 1


def test_a_full_disk_ends_a_run_resumable_and_room_finishes_it(held: Held) -> None:
    assert held("disk")["the end says what to do"] >= 1


def test_a_folder_that_cannot_be_written_is_refused_and_can_be_read(held: Held) -> None:
    assert held("readonly")["the refusal says what to do"] >= 1


@pytest.mark.real("libfaketime")
def test_a_clock_that_jumps_by_hours_delays_nothing_and_ends_nothing(held: Held) -> None:
    assert held("clock")["nothing waits for the clock"] == 1


def test_of_several_processes_on_a_folder_one_works_and_the_others_are_told_which(held: Held) -> None:
    assert held("holders")["of many that start at once exactly one wins"] == 1


@pytest.mark.real("redis")
def test_a_store_that_dies_under_a_run_leaves_it_resumable_and_no_turn_scored_without_it(held: Held) -> None:
    assert held("stores")["no turn is scored otherwise than with the store at hand"] == 2


@pytest.mark.real("redis")
def test_shards_their_run_and_their_redis_killed_leave_one_run_with_the_report_of_an_uncut_one(held: Held) -> None:
    checked = held("shards")
    assert checked["no process outlives the one that started it"] >= 3
    assert checked["no folder stays held"] == 1
    assert checked["the report has the bytes of a sweep that nothing disturbed"] == 1

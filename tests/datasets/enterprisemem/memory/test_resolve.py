"""Context resolution, and what it finds on the released sessions."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from turntide.datasets.enterprisemem.memory.resolve import resolve

from ....support.episodes import episode

OLD = episode(0, state={"ticker": "AAPL", "metric": "revenue", "year": 2023})
MIDDLE = episode(1, state={"metric": "cash"})
NEW = episode(2, state={"year": 2024})


def test_the_newest_value_wins_and_the_keys_keep_their_order() -> None:
    found = resolve(("year", "metric", "ticker"), (OLD, MIDDLE, NEW))
    assert list(found.items()) == [("year", 2024), ("metric", "cash"), ("ticker", "AAPL")]


def test_working_memory_goes_before_the_sessions_own_episodes() -> None:
    assert resolve(("metric", "ticker"), (NEW,), own=(NEW, MIDDLE, OLD)) == {"metric": "cash", "ticker": "AAPL"}


def test_a_key_that_nobody_set_is_left_out() -> None:
    assert resolve(("region", "year"), (OLD, NEW)) == {"year": 2024}
    assert resolve(("region",), ()) == {}
    assert resolve((), (OLD,)) == {}


def test_without_gold_state_nothing_is_resolved() -> None:
    assert resolve(("year",), (episode(0), episode(1))) == {}


@pytest.mark.parametrize(
    ("window", "episodic", "expected"),
    [
        (2, False, {"full": 420, "partial": 269, "none": 411}),
        (5, False, {"full": 810, "partial": 99, "none": 191}),
        (5, True, {"full": 1_100}),
    ],
)
def test_on_the_released_sessions_it_resolves(
    shared_data: Path, window: int, episodic: bool, expected: dict[str, int]
) -> None:
    released = shared_data / "enterprisemem" / "all_sessions.json.gz"
    sessions: list[dict[str, Any]] = json.loads(gzip.decompress(released.read_bytes()))
    counts: Counter[str] = Counter()
    for session in sessions:
        earlier = [episode(index, state=turn["state_updates"]) for index, turn in enumerate(session["turns"])]
        for index, turn in enumerate(session["turns"]):
            if keys := turn.get("referenced_context_keys", []):
                own = reversed(earlier[:index]) if episodic else ()
                found = len(resolve(keys, earlier[max(0, index - window) : index], own))
                counts["full" if found == len(keys) else "partial" if found else "none"] += 1
    assert counts == expected

"""How a plan falls into shards."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from msgspec import Struct
from turntide.engine.shards.cut import Cut, Part, place
from turntide.engine.unit import Remembers, Unit

from ...support.toy import Toy


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_every_lane_is_in_one_shard_whole_and_in_its_order(tmp_path: Path, shards: int) -> None:
    toy = Toy(tmp_path, 30)
    whole = [[tuple(unit.key for unit in step) for step in lane] for lane in toy.lanes("m", 2)]
    parts = [
        [[tuple(unit.key for unit in step) for step in lane] for lane in Part(toy, Cut(index, shards)).lanes("m", 2)]
        for index in range(shards)
    ]
    assert sorted(lane for part in parts for lane in part) == sorted(whole)
    assert all(part == [lane for lane in whole if lane in part] for part in parts)


def test_a_dialogue_never_moves_to_another_shard() -> None:
    """These places are in run folders: another hash would pay for their answers again."""
    keys = [f"sim/one/A/northwind-{number:03}/0" for number in range(8)]
    assert [_place(key, 4) for key in keys] == [3, 3, 1, 0, 0, 1, 0, 2]


def test_shards_of_many_dialogues_are_about_equal() -> None:
    counts = Counter(_place(f"openai/gpt-5-mini/B/session-{number}/0", 16) for number in range(16_000))
    assert max(counts.values()) - min(counts.values()) < 0.2 * 1_000


def test_a_part_says_which_records_its_benchmark_remembers_and_only_where_it_remembers_any(tmp_path: Path) -> None:
    class Remembering(Toy):
        record: type[Struct] = Struct

    assert not isinstance(Part(Toy(tmp_path), Cut(0, 2)), Remembers)
    part = Part(Remembering(tmp_path), Cut(0, 2))
    assert isinstance(part, Remembers)
    assert part.record is Struct


def _place(key: str, shards: int) -> int:
    return place(Unit(key=key, item="", model="m", turns=1), shards)

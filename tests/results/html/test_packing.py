"""Dialogues as a page holds them."""

from __future__ import annotations

from typing import Any

import pytest
from turntide.adapters.base import Answer
from turntide.engine.again.replay import Asked, Transcript
from turntide.results.html import packing

from ...support.pages import SCHEMA, dialogue, packed, unpacked


def test_every_text_of_a_block_stands_once_and_every_number_finds_its_own() -> None:
    found = packed([dialogue("one"), dialogue("two")])
    block = unpacked(found.blocks[0])
    texts = [text for text in block["texts"] if isinstance(text, str)]
    assert len(texts) == len(set(texts))
    turns = block["dialogues"][1]
    assert [block["texts"][turn["asked"]["answer"]] for turn in turns] == ["SELECT 1"] * 3
    headings = [[heading for heading, _ in parts] for _, parts in turns[1]["asked"]["prompt"]]
    assert headings == [[""], ["Schema", "Recent turns", "Question"]]


def test_the_list_says_what_each_dialogue_is_and_where_it_stands() -> None:
    index = unpacked(packed([dialogue("one"), dialogue("two", condition="A")]).index)
    words = index["words"]
    unit, ended, block, place, values, outcomes = index["rows"][0]
    assert (unit, ended, block, place) == ("sim/one/A/two/0", 1, 0, 1)
    assert dict(zip(index["facets"], (words[value] for value in values), strict=True)) == {
        "model": "sim/one", "condition": "A", "source": "shop", "session": "two",
    }  # fmt: skip
    assert [words[outcome] for outcome in outcomes] == ["correct", "correct", "wrong_result"]
    assert [index["kinds"][outcome] for outcome in outcomes] == ["right", "right", "wrong"]


def test_a_result_is_compared_with_gold_by_every_name() -> None:
    first, _, last = unpacked(packed([dialogue("one")]).blocks[0])["dialogues"][0]
    assert set(first["agree"].values()) == {True}
    assert set(last["agree"].values()) == {False}
    assert [name for name, _, _ in first["gold"]] == ["gold", "fallback"]


def test_a_long_text_that_comes_back_in_later_blocks_moves_to_the_shared_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "BLOCK", 1)
    found = packed([dialogue("one"), dialogue("two"), dialogue("three")])
    blocks = [unpacked(block) for block in found.blocks]
    assert unpacked(found.shared) == [SCHEMA]
    assert [SCHEMA in block["texts"] for block in blocks] == [True, False, False]
    assert blocks[2]["dialogues"][0][0]["asked"]["prompt"][1][1][0] == ["Schema", -1]


def test_hostile_text_survives_and_a_huge_one_is_cut_with_a_word() -> None:
    said = ["\ud800 \x00 \u202e </script>", "x" * (packing.LONGEST + 1)]
    steps = [Asked("", "m", None, Answer(text=text, model="m", usage=None)) for text in said]
    block: Any = unpacked(packed([Transcript("u", steps=list(steps))]).blocks[0])
    texts = [block["texts"][turn["asked"]["answer"]] for turn in block["dialogues"][0]]
    assert texts[0] == said[0]
    assert texts[1].endswith("cut here; the journal has all 100,001 characters")


def test_equal_dialogues_give_equal_bytes() -> None:
    assert packed([dialogue("one"), dialogue("two")]) == packed([dialogue("one"), dialogue("two")])

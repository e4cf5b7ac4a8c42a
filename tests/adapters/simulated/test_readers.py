"""Readers: the two for tests, and those that an installed package brings."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from turntide.adapters.base import ConfigurationError, Message
from turntide.adapters.simulated.reader import Reader, Readers, ScriptReader, prompt_digest

if TYPE_CHECKING:
    from .conftest import Start

PLUGIN = """
class Oracle:
    def __init__(self, word="yes"):
        self.word = word
    def answer(self, messages, options, chance):
        return f"{self.word} {options.get('max_tokens')} {chance.random()}"
    def misread(self, answer, messages, options, chance):
        return "no"
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Install a distribution that brings a reader."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def install(name: str, source: str) -> None:
        (tmp_path / f"plugin_{name}.py").write_text(source)
        info = tmp_path / f"plugin_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: plugin_{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[turntide.readers]\n{name} = plugin_{name}:Oracle\n")

    return install


def ask(reader: Reader, *contents: str) -> str:
    return reader.answer([Message("user", content) for content in contents], {}, random.Random(0))


def test_a_script_answers_by_prompt_then_by_pattern_then_otherwise() -> None:
    whole = prompt_digest([Message("user", "a"), Message("user", "b")])
    script = ScriptReader(answers={whole: "known"}, patterns={r"b(\d)": r"got \1"}, otherwise="?")
    assert [ask(script, "a", "b"), ask(script, "b7"), ask(script, "b", "a")] == ["known", "got 7", "?"]


def test_digests_tell_prompts_apart_by_role_and_by_where_a_message_ends() -> None:
    prompts = [
        [Message("user", "ab")],
        [Message("system", "ab")],
        [Message("user", "a"), Message("user", "b")],
        [Message("user", "a"), Message("user", ""), Message("user", "b")],
    ]
    assert len({prompt_digest(prompt) for prompt in prompts}) == 4


async def test_an_installed_reader_is_a_model_under_its_name(plugin: Callable[[str, str], None], start: Start) -> None:
    plugin("oracle", PLUGIN)
    client = await start(models={"other": {"reader": "oracle", "settings": {"word": "well"}}})
    text = await client.text("x", model="sim/oracle", max_tokens=50)
    assert text.startswith("yes 50 0.")
    assert text == await client.text("x", model="sim/oracle", max_tokens=50)
    assert (await client.text("x", model="other")).startswith("well None")
    assert await client.text("x", model="oracle?wrong=1") == "no"


async def test_a_broken_reader_harms_nobody_else(plugin: Callable[[str, str], None], start: Start) -> None:
    plugin("shards", "raise RuntimeError('in pieces')")
    client = await start()
    reply = await client.ask(model="shards")
    assert reply.status_code == 404
    assert "in pieces" in reply.json()["error"]["message"]
    assert await client.text("fine") == "fine"
    assert "shards" in set(Readers())


def test_readers_are_imported_when_first_asked_for(plugin: Callable[[str, str], None]) -> None:
    plugin("lazy", PLUGIN)
    readers = Readers()
    assert "lazy" in readers
    assert "plugin_lazy" not in sys.modules
    readers.make("lazy", {})
    assert "plugin_lazy" in sys.modules


@pytest.mark.parametrize(
    ("name", "settings"), [("none", {}), ("script", {"nonsense": 1}), ("script", {"patterns": {"(": ""}})]
)
def test_a_reader_that_cannot_be_made_says_why(name: str, settings: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match=name):
        Readers().make(name, settings)

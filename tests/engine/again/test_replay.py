"""Dialogues brought back from their journal."""

from __future__ import annotations

from pathlib import Path

import pytest
from turntide.adapters.base import Answer, Message
from turntide.adapters.simulated import SimulatedServer
from turntide.engine.again.rehearsal import NoDatabase
from turntide.engine.again.replay import Asked, Executed, Recorded, Transcript, recall, replay
from turntide.engine.context import UnitContext
from turntide.engine.errors import Diverged
from turntide.engine.journal import Lines

from ...support.toy import TURNS, Toy, run_toy

UNITS = 9


@pytest.fixture
async def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, list[str]]]:
    """A finished run's journal, and every prompt that was really asked, by unit."""
    asked: dict[str, list[str]] = {}
    ask = UnitContext.ask

    async def heard(self: UnitContext, model: str, messages: list[Message]) -> Answer:
        asked.setdefault(self.unit.key, []).append(messages[0].content)
        return await ask(self, model, messages)

    with SimulatedServer.start() as server:
        monkeypatch.setattr(UnitContext, "ask", heard)
        await run_toy(tmp_path / "run", server.base_url, units=UNITS)
    return tmp_path / "run" / "journal.jsonl", asked


async def replayed(journal: Path, toy: Toy) -> list[Transcript]:
    with Lines(journal) as lines:
        return [each async for each in replay(lines, toy, ["sim/echo"], 1, NoDatabase(), 0)]


async def test_every_prompt_answer_statement_and_record_comes_back(
    run: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    journal, asked = run
    found = await replayed(journal, Toy(tmp_path / "data", UNITS))
    prompts = {
        each.unit: [step.messages[0].content for step in each.steps if isinstance(step, Asked) and step.messages]
        for each in found
    }
    assert prompts == asked
    assert all(each.ended for each in found)
    assert [type(step) for step in found[0].steps] == [Asked, Executed, Recorded] * TURNS
    assert found[0].labels == {"model": "sim/echo", "kind": "lane"}


async def test_a_dialogue_that_waits_for_an_answer_is_shown_as_far_as_it_came(
    run: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    journal, _ = run
    lines = journal.read_bytes().splitlines(keepends=True)
    last = max(place for place, line in enumerate(lines) if line.startswith(b'{"k":"answer"'))
    journal.write_bytes(b"".join(lines[:last]))
    found = await replayed(journal, Toy(tmp_path / "data", UNITS))
    waiting = [each for each in found if not each.ended]
    assert waiting
    assert all(len(each.steps) < 3 * TURNS for each in waiting)


async def test_another_journal_is_an_error_and_no_mixture(
    run: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    journal, _ = run
    toy = Toy(tmp_path / "data", UNITS)
    toy.seen["sim/echo/lane/0"] = ["something that was never said"]
    with pytest.raises(Diverged, match="what would be recorded"):
        await replayed(journal, toy)


async def test_without_the_data_the_journal_still_has_answers_and_results(
    run: tuple[Path, dict[str, list[str]]],
) -> None:
    with Lines(run[0]) as lines:
        found = list(recall(lines))
    assert len(found) == UNITS
    first, ran, _ = found[0].steps[:3]
    assert isinstance(first, Asked)
    assert first.messages is None
    assert isinstance(ran, Executed)
    assert (ran.sql, ran.outcome.rows) == (None, 1)

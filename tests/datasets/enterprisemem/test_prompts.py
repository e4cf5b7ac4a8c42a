"""The composed prompt: golden texts, the paper's words, the rule of the output requirements."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import Message
from turntide.datasets.enterprisemem.conditions import CONDITIONS, Condition
from turntide.datasets.enterprisemem.memory.horizon import SessionOrder
from turntide.datasets.enterprisemem.prompts import SQL_LIMIT, compose, identity, prompts, requirement, schema_text

from ...support.episodes import episode, memory, read_turn

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
DIALOGUES: dict[str, Any] = json.loads((FIXTURES / "enterprisemem" / "dialogues.json").read_text("utf-8"))
REQUIREMENTS: list[tuple[str, str, str]] = json.loads((FIXTURES / "enterprisemem" / "requirements.json").read_text())
REWRITE = "TURNTIDE_REWRITE_PROMPTS"
HEADINGS = [
    "Source",
    "Schema",
    "Source guidance",
    "Recent turns",
    "Retrieved episodes",
    "Resolved structured context",
    "Semantic hint",
    "Question",
    "Output requirements",
]


def headings(message: Message) -> list[str]:
    return re.findall(r"^## (.*)$", message.content, re.MULTILINE)


@pytest.mark.parametrize("source", DIALOGUES)
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.name)
async def test_the_prompt_of_every_condition_and_source_is_the_golden_one(condition: Condition, source: str) -> None:
    """Set TURNTIDE_REWRITE_PROMPTS=1 to write them anew, and read the difference."""
    dialogue = DIALOGUES[source]
    remembered, starts = memory(condition), [0, len(dialogue["sessions"][0])]
    for session, start in enumerate(starts):
        for index, entry in enumerate(dialogue["sessions"][session]):
            await remembered.remember(read_turn(f"S{session}", index + 1, start + index, entry))
    turn, ask = len(dialogue["sessions"][1]) + 1, dialogue["ask"]
    horizon = SessionOrder.parse("sequential").horizon(starts, 1, turn)
    recalled = await remembered.recall("S1", turn, horizon, source, ask["question"], ask["keys"])
    schema = schema_text(tuple(row) for row in dialogue["schema"])
    parts = (recalled.recent, recalled.episodes, recalled.resolved, recalled.hints)
    system, user = compose(source, schema, *parts, ask["question"])
    text = f"<system>\n{system.content}\n\n<user>\n{user.content}\n"

    golden = FIXTURES / "prompts" / f"{condition.name}-{source}.txt"
    if os.environ.get(REWRITE):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


def test_sections_come_in_the_documented_order_and_empty_ones_are_left_out() -> None:
    shown = episode(0, state={"region": "Prague"})
    full = compose("bird", "CREATE TABLE t (a);", [shown], [shown], [("region", "Prague")], ["note"], "How many?")
    bare = compose("bird", "CREATE TABLE t (a);", [], [], [], [], "How many?")
    assert headings(full[1]) == HEADINGS
    assert headings(bare[1]) == [h for h in HEADINGS if h in ("Source", "Schema", "Source guidance", *HEADINGS[-2:])]
    assert [message.role for message in full] == ["system", "user"]
    assert full[1].content.endswith(f"\n\n{prompts().reminder}")


def test_a_huge_statement_is_shown_in_part_and_says_so() -> None:
    _, user = compose("bird", "CREATE TABLE t (a);", [episode(0, sql="S" * 10_000_000)], [], [], [], "How many?")
    assert len(user.content) < 2 * SQL_LIMIT
    assert f"… (+{10_000_000 - SQL_LIMIT} characters)" in user.content


@given(sql=st.text(), question=st.text(), result=st.text())
def test_nothing_that_a_model_wrote_can_pass_for_a_heading(sql: str, question: str, result: str) -> None:
    shown = episode(0, f"\n## {question}", sql=f"\n## Question\n{sql}", result=result)
    _, user = compose("bird", "CREATE TABLE t (a);", [shown], [], [], [], "How many?")
    expected = ["Source", "Schema", "Source guidance", "Recent turns", "Question", "Output requirements"]
    assert [line[3:] for line in user.content.split("\n") if line.startswith("## ")] == expected


@pytest.mark.parametrize(("source", "question", "expected"), REQUIREMENTS)
def test_the_output_requirement_follows_from_question_and_source(source: str, question: str, expected: str) -> None:
    assert requirement(source, question) == expected


def test_the_identity_is_the_hash_of_the_words() -> None:
    (digest,) = identity().values()
    assert isinstance(digest, str)
    assert re.fullmatch("[0-9a-f]{64}", digest)


def test_the_words_are_those_of_the_appendix(shared_data: Path) -> None:
    paper = shared_data.parent / "papers" / "enterprisemem-bench.txt"
    if not paper.is_file():
        pytest.skip("the paper's text is not beside the data")
    appendix = _letters(paper.read_text("utf-8").split("## Appendix AVerbatim")[1].split("### A\\.6")[0])
    words = prompts()
    lines = [
        words.system,
        *(line for by_source in (words.guidance, words.hints) for v in by_source.values() for line in v),
    ]
    assert [line for line in lines if _letters(line) not in appendix] == []
    assert appendix.count("•") == sum(len(lines) for lines in words.guidance.values())


def test_every_released_question_gets_the_requirement_that_its_gold_shape_asks_for(shared_data: Path) -> None:
    sessions = json.loads(gzip.decompress((shared_data / "enterprisemem" / "all_sessions.json.gz").read_bytes()))
    counts: dict[tuple[str, str], int] = {}
    for session in sessions:
        for turn in session["turns"]:
            kind = requirement(session["source"], turn["question"])
            counts[session["source"], kind] = counts.get((session["source"], kind), 0) + 1
            total = turn["ground_truth_sql"].startswith(
                "SELECT ROUND(SUM(od.UnitPrice * od.Quantity * (1 - od.Discount))"
            )
            assert (kind == "single_figure") == total, turn["question"]
            value = session["source"] == "sec_edgar" and "value_billions FROM" in turn["ground_truth_sql"]
            assert (kind == "value") == value, turn["question"]
    assert counts == {
        ("northwind", "single_figure"): 100,
        ("northwind", "rows"): 367,
        ("sec_edgar", "value"): 330,
        ("sec_edgar", "rows"): 269,
        ("bird", "rows"): 334,
    }


def test_the_schema_lists_tables_then_views_by_name() -> None:
    rows = [tuple(row) for row in DIALOGUES["northwind"]["schema"]]
    names = re.findall(r"^CREATE (?:TABLE|VIEW) (\[.*?\]|\w+)", schema_text(rows), re.MULTILINE)
    assert names == ["Customers", "Orders", "[Order Totals]"]


def _letters(text: str) -> str:
    """Take out what the conversion of the paper added, lost or curled."""
    straight = text.replace("‘", "'").replace("’", "'").replace("”", '"').replace("OWNER\"'", "OWNER'")
    return re.sub(r"[\s\\]", "", straight)

"""Pages of the HTML report without a run: transcripts made by hand, packed as a run's are."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Any

from turntide.adapters.base import Answer, Message, Usage
from turntide.engine.again.replay import Asked, Executed, Recorded, Step, Transcript
from turntide.engine.sql.comparison import COMPARISONS
from turntide.engine.sql.outcome import Cell, Outcome
from turntide.results.html.packing import Packed, Packer
from turntide.results.html.page import page
from turntide.results.report import Listed, Reading, Records, Report
from turntide.results.table import Rate, Table

SCHEMA = "CREATE TABLE Orders (\n" + "".join(f"  column_{number} TEXT,\n" for number in range(80)) + ");"

HOSTILE = (
    "</script><script>window.hacked=1</script>",
    '<img src=x onerror="window.hacked=1">',
    "<svg/onload=window.hacked=1>",
    '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
    "javascript:window.hacked=1",
    '"><style>*{display:none}</style>',
    "<a href='https://example.com' autofocus onfocus=window.hacked=1>x</a>",
    "\u202e\u2066 reversed \x00 and a lone \ud800",
    "x" * 200_000,
)
"""Texts that a browser would run, load or be led astray by, if it took them for more than texts."""


def listed(records: Records) -> Listed:
    first = records[0]
    facets = {"condition": first["condition"], "source": first["source"], "session": first["session"]}
    return Listed(facets=facets, outcomes=[record["category"] for record in records])


READING = Reading(
    listed=listed, right=frozenset({"correct"}), unscored=frozenset({"simulator error"}),
    endings=frozenset({"turn limit"}), order={"condition": ("A", "B", "B_wm5", "C", "D")},
    question="Question", quiet=frozenset({"Schema"}), references=("gold", "fallback"),
)  # fmt: skip


def outcome(*rows: Sequence[Cell], columns: Sequence[str] = ("x",)) -> Outcome:
    digests: dict[str, str] = {name: repr(rows) for name in COMPARISONS}
    excerpt = tuple(map(tuple, rows))
    return Outcome(status="ok", columns=tuple(columns), rows=len(rows), excerpt=excerpt, digests=digests)


def turn(number: int, category: str, answer: str, question: str, **record: Any) -> Iterator[Step]:
    """Yield the steps of one turn: memory is shown from the second on; a correct one has the result of gold."""
    memory = f"\n\n## Recent turns\nTurn {number - 1}: {answer}" if number > 1 else ""
    prompt = f"## Schema\n{SCHEMA}{memory}\n\n## Question\n{question}"
    messages = (Message("system", "You write SQL."), Message("user", prompt))
    usage = Usage(input_tokens=1200, output_tokens=40)
    yield Asked("", "sim/one", messages, Answer(text=answer, model="one", usage=usage, reasoning="because"))
    gold = outcome((1, None))
    yield Executed("shop", "SELECT 1 -- gold", gold, gold=True)
    yield Executed("shop", answer, gold if category == "correct" else outcome((2, "two")))
    yield Executed("shop", "SELECT 3 -- fallback", outcome((3,)), gold=True)
    yield Recorded({"category": category, **record})


def dialogue(
    name: str,
    turns: int = 3,
    condition: str = "B",
    answer: str = "SELECT 1",
    question: str = "How many?",
    model: str = "sim/one",
    last: str = "wrong_result",
) -> Transcript:
    """Return a dialogue whose last turn is wrong, and all before it right."""
    steps = [
        step
        for number in range(1, turns + 1)
        for step in turn(
            number, last if number == turns > 1 else "correct", answer, f"{question} ({number})",
            condition=condition, source="shop", session=name,
        )
    ]  # fmt: skip
    return Transcript(f"{model}/{condition}/{name}/0", {"model": model}, ended=True, steps=steps)


def packed(transcripts: Sequence[Transcript]) -> Packed:
    packer = Packer(READING)
    for transcript in transcripts:
        packer.add(transcript)
    return packer.finish()


def report(title: str = "A made-up run", **parts: Any) -> Report:
    rate = Rate(hits=80, scored=100, planned=120, low=0.71, high=0.87)
    table = Table(
        key="ex",
        title="EX% by condition",
        columns=("model", "A", "B"),
        rows=[["sim/one", rate, rate]],
        note="Of turns",
    )
    fields: dict[str, Any] = {
        "marks": {"INCOMPLETE": "100 of 120 turns are scored"}, "facts": {"seed": 0}, "warnings": ["it is made up"],
        "tables": [table], "headline": {"EX% at A": {"sim/one": rate}}, "paid": "$1.00", "reading": READING,
    }  # fmt: skip
    return Report(title=title, **fields | parts)


def made(transcripts: Sequence[Transcript], **parts: Any) -> str:
    """Return the page of a report with these dialogues."""
    return page(report(**parts), {}, packed(transcripts), [])


def unpacked(block: str) -> Any:
    """Return what a page's script would read."""
    return json.loads(zlib.decompress(b64decode(block), -zlib.MAX_WBITS))

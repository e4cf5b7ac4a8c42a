"""What tests ask of the journal in a run's folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from turntide.engine.journal import Fields, scan
from turntide.engine.journal.codec import encode
from turntide.engine.journal.links import FIRST, links


def chained(lines: Iterable[Fields]) -> bytes:
    """Return the bytes of a journal that holds `lines`, whatever they are."""
    content, last = b"", FIRST
    for line in lines:
        raw = encode(line, last)
        content, last = content + raw, links(raw)[1]
    return content


def results(folder: Path) -> list[str]:
    """Return every record of a run with its place, in an order that owes nothing to time."""
    lines = (line for line in scan(folder / "journal.jsonl") if line["k"] == "record")
    return sorted(json.dumps([line["u"], line["b"], line["s"], line["fields"]]) for line in lines)


def kinds(folder: Path) -> Counter[str]:
    """Count the lines of a run by kind."""
    return Counter(line["k"] for line in scan(folder / "journal.jsonl"))


def ends(folder: Path) -> list[str]:
    """Return the units that came to their end, as often as they did."""
    return [line["u"] for line in scan(folder / "journal.jsonl") if line["k"] == "end"]


def answers(folder: Path) -> int:
    """Count the answers in a journal that grows, or that is not there yet."""
    journal = folder / "journal.jsonl"
    return journal.read_bytes().count(b'"k":"answer"') if journal.exists() else 0

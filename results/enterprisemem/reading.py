"""How the benchmark's dialogues are listed and read."""

from __future__ import annotations

from typing import Final

from ...datasets.enterprisemem.conditions import BY_NAME
from ...datasets.enterprisemem.prompts import prompts
from ...datasets.enterprisemem.record import read_record
from ..report import Listed, Reading, Records

REFERENCES: Final = ("gold", "fallback: the neighbouring session's answer", "the values of a shown episode")


def reading() -> Reading:
    """Return it."""
    headings = prompts().headings
    return Reading(
        listed=listed,
        right=frozenset({"correct"}),
        order={"condition": [*BY_NAME]},
        question=headings.question,
        quiet=frozenset({headings.source, headings.schema, headings.guidance, headings.requirements}),
        references=REFERENCES,
        servers=frozenset({"redis", "chroma"}),
    )


def listed(records: Records) -> Listed:
    """Return a session's facets, and the category of each turn."""
    first = read_record(records[0])
    facets = {
        "model": first.model,
        "condition": first.condition,
        "source": first.source,
        "tier": f"T{first.tier}",
        "session": first.session,
    }
    return Listed(facets=facets, outcomes=[read_record(each).category for each in records])

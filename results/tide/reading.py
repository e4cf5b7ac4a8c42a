"""How the benchmark's dialogues are listed and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...datasets.tide.metrics import right_at, scored
from ...datasets.tide.record import ENDINGS, PROTOCOLS, DialogueRecord, Ending, read_record
from ...datasets.tide.samples import KINDS
from ..report import Listed, Reading, Records

RIGHT, WRONG, NONE = "right query", "wrong query", "no query"
UNSCORED: Final[Ending] = "simulator_error"


def reading() -> Reading:
    """Return it."""
    return Reading(
        listed=listed,
        right=frozenset({RIGHT}),
        unscored=frozenset({_words(UNSCORED)}),
        endings=frozenset(_words(ending) for ending in ENDINGS if ending not in ("complete", UNSCORED)),
        order={"protocol": PROTOCOLS, "set": KINDS},
    )


def listed(records: Records) -> Listed:
    """Return a sample's facets, what came of each query that it asks for, and why it ended early, if it did.

    Of a dialogue that is not scored its ending is all, and of checks of a router there is nothing.
    """
    if "sample" not in records[0]:
        return Listed(facets={}, outcomes=())
    record = read_record(records[0])
    facets = {
        "model": record.model,
        "protocol": record.protocol,
        "set": record.kind,
        "database": record.database,
        "subtype": record.subtype or "none",
        "sample": record.sample,
    }
    return Listed(facets=facets, outcomes=list(_outcomes(record)))


def _outcomes(record: DialogueRecord) -> Iterator[str]:
    given = {query.stage for query in record.queried}
    for stage in range(record.golds if scored(record) else 0):
        yield RIGHT if right_at(record, stage) else WRONG if stage in given else NONE
    if record.ending != "complete":
        yield _words(record.ending)


def _words(ending: Ending) -> str:
    return ending.replace("_", " ")

"""How the benchmark's dialogues are listed and read."""

from __future__ import annotations

from collections.abc import Iterator

from ...datasets.tide.metrics import right_at
from ...datasets.tide.record import DialogueRecord, read_record
from ..report import Listed, Reading, Records

RIGHT, WRONG, NONE = "right query", "wrong query", "no query"


def reading() -> Reading:
    """Return it."""
    return Reading(listed=listed, right=frozenset({RIGHT}), wrong=frozenset({WRONG}))


def listed(records: Records) -> Listed:
    """Return a sample's facets, and what came of each query that it asks for; of checks of a router, nothing."""
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
    for stage in range(record.golds):
        yield RIGHT if right_at(record, stage) else WRONG if stage in given else NONE
    if record.ending != "complete":
        yield record.ending.replace("_", " ")

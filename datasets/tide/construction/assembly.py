"""Triplets from the records of a construction: a pure function of them (§3.2, triplet assembly)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..files import TripletFile
from ..samples import FORMAT, Stage, Triplet
from ..structure import CounterfactualVerdict, complexity_tier
from .record import BuildRecord, StageRecord, Vote


def assembled(records: Iterable[BuildRecord], name: str) -> TripletFile:
    """Return the triplets of the complete records; of an anchor that several records completed, the first one's."""
    found: dict[str, Triplet] = {}
    for record in records:
        if record.complete and record.anchor not in found:
            found[record.anchor] = triplet_of(record)
    return TripletFile(format=FORMAT, name=name, synthetic=True, triplets=tuple(found.values()))


def triplet_of(record: BuildRecord) -> Triplet:
    """Return the triplet of a complete record."""
    pieces = record.pieces
    assert pieces.drift is not None
    verdict: CounterfactualVerdict | None = next((layer.verdict for layer in pieces.layers if layer.verdict), None)
    subtype = pieces.drift.subtype
    return Triplet(
        id=record.anchor,
        database=record.database,
        split=record.split,
        evidence=record.evidence,
        rewritten_evidence=pieces.evidence,
        stages=(
            Stage(
                utterance=record.question,
                ambiguous=pieces.ambiguous,
                layers=pieces.layers,
                sql=record.sql,
                tier=complexity_tier(record.sql, verdict, subtype),
            ),
            Stage(
                utterance=pieces.utterance,
                drift=pieces.drift,
                sql=pieces.sql,
                tier=complexity_tier(pieces.sql, verdict, subtype),
            ),
        ),
        provenance=dict(_provenance(record)),
    )


def _provenance(record: BuildRecord) -> Iterator[tuple[str, str]]:
    """Yield where each part comes from; calls are named by unit and step, under which the run's journal has them."""
    unit = f"{record.model}/{record.anchor}/{record.repeat}"
    yield "anchor", f"{record.split} question {record.anchor}"
    for name, stage in record.stages.items():
        yield name, _made(stage, unit)
    yield "checks", "all eight of Table 7"
    for name in ("chain", "drift"):
        votes = record.stages[name].last.votes
        yield f"{name}_judges", "; ".join(_voted(vote) for vote in votes) or "none"


def _made(stage: StageRecord, unit: str) -> str:
    if stage.last.step is None:
        return stage.source
    return f"{stage.source}, call {unit} step {stage.last.step}, attempt {len(stage.attempts)}"


def _voted(vote: Vote) -> str:
    passed = ", ".join((*vote.passed, *filter(None, (vote.verdict,))))
    return f"{vote.judge} (step {vote.step}) passes {passed}"

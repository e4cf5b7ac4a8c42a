"""Triplets from the records of a construction: a pure function of them (§3.2, triplet assembly)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..files import TripletFile
from ..samples import FORMAT, DriftLabel, Stage, Triplet
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
    return Triplet(
        id=record.anchor,
        database=record.database,
        split=record.split,
        evidence=record.evidence,
        rewritten_evidence=record.pieces.evidence,
        stages=tuple(_stages(record)),
        provenance=dict(_provenance(record)),
    )


def _stages(record: BuildRecord) -> Iterator[Stage]:
    """Yield the question and the drifts, the chain on the one whose words leave it open."""
    pieces, opens = record.pieces, record.design.opens
    verdict: CounterfactualVerdict | None = next((layer.verdict for layer in pieces.layers if layer.verdict), None)
    said: list[tuple[str, str, DriftLabel | None]] = [(record.question, record.sql, None)]
    said += [(drift.utterance, drift.sql, drift.label) for drift in pieces.drifts]
    for number, (utterance, sql, label) in enumerate(said):
        yield Stage(
            utterance=utterance,
            ambiguous=pieces.ambiguous if number == opens else "",
            layers=pieces.layers if number == opens else (),
            drift=label,
            sql=sql,
            tier=complexity_tier(sql, verdict, pieces.drifts[0].label.subtype),
        )


def _provenance(record: BuildRecord) -> Iterator[tuple[str, str]]:
    """Yield where each part comes from; calls are named by unit and step, under which the run's journal has them."""
    unit = f"{record.model}/{record.anchor}/{record.repeat}"
    yield "anchor", f"{record.split} question {record.anchor}"
    for name, stage in record.stages.items():
        yield name, _made(stage, unit)
    yield "checks", "all eight of Table 7"
    for name in record.stages:
        if name != "evidence":
            votes = record.stages[name].last.votes
            yield f"{name}_judges", "; ".join(_voted(vote) for vote in votes) or "none"


def _made(stage: StageRecord, unit: str) -> str:
    if stage.last.step is None:
        return stage.source
    return f"{stage.source}, call {unit} step {stage.last.step}, attempt {len(stage.attempts)}"


def _voted(vote: Vote) -> str:
    verdict = f"{vote.layer} {vote.verdict}" if vote.verdict else ""
    passed = ", ".join(filter(None, (*vote.passed, verdict)))
    return f"{vote.judge} (step {vote.step}) passes {passed}"

"""The answers of a construction in which nothing is rejected: what an estimate takes each call to say."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from .anchors import AnchorQuery, TreeDrift
from .answers import ChainDraft, ChainOpinion, DriftOpinion, EvidenceDraft, LayerDraft
from .settings import Sources

_TERM = "the words left open"


def plain_answers(anchor: AnchorQuery, sources: Sources) -> Iterator[str]:
    """Yield one answer for each call, in the order of the calls: every piece passes at the first attempt."""
    sql = anchor.sql
    for number in range(sources.design.drifts + 1):
        if number:
            edit = anchor.edit(number)
            sql = edit.sql if edit else sql
            yield from _of_drift(anchor, sources, edit, sql)
        if number == sources.design.opens:
            yield from _of_chain(anchor, sources, sql)


def _of_chain(anchor: AnchorQuery, sources: Sources, sql: str) -> Iterator[str]:
    if sources.chain == "none":
        return
    if sources.chain == "model":
        yield _json(_draft(anchor, sources.design.depth))
    for _ in range((sources.design.depth - 1) * len(sources.judges)):
        yield _json(ChainOpinion(plausibility=True, re_ask=True, verdict="eliminated", reason=anchor.question))
    if sources.evidence == "model" and anchor.evidence.strip():
        yield _json(EvidenceDraft(evidence=anchor.evidence))
    for _ in range(3 if sources.tester else 0):
        yield json.dumps({"sql": sql})


def _of_drift(anchor: AnchorQuery, sources: Sources, edit: TreeDrift | None, sql: str) -> Iterator[str]:
    if sources.drift == "model":
        fine = edit.label.fine_subtype if edit else anchor.assigned.fine_subtype
        yield json.dumps({"drift_utterance": anchor.question, "post_drift_sql": sql, "fine_subtype": fine})
    for _ in sources.drift_judges:
        yield _json(DriftOpinion(drift_fit=True, stability=True, reason=anchor.question))


def _draft(anchor: AnchorQuery, depth: int) -> ChainDraft:
    layers = [
        LayerDraft(term=_TERM, question=f"{anchor.question} {number}", answer=f"The one {number}.",
                   alternative=f"The other {number}.", decisions=(1,), verdict="eliminated" if number > 1 else None)
        for number in range(1, depth + 1)
    ]  # fmt: skip
    return ChainDraft(ambiguous_question=f"{anchor.question} (roughly)", layers=tuple(layers))


def _json(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()

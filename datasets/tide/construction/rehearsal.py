"""The answers of a construction in which nothing is rejected: what an estimate takes each call to say."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from .anchors import AnchorQuery
from .answers import ChainDraft, ChainOpinion, DriftOpinion, EvidenceDraft, LayerDraft
from .settings import Sources

_TERM = "the words left open"


def plain_answers(anchor: AnchorQuery, sources: Sources) -> Iterator[str]:
    """Yield one answer for each call, in the order of the calls: every piece passes at the first attempt."""
    if sources.chain == "model":
        yield _json(_draft(anchor))
    chained = sources.chain != "none"
    for _ in sources.judges if chained else ():
        yield _json(ChainOpinion(plausibility=True, re_ask=True, verdict="eliminated", reason=anchor.question))
    if chained and sources.evidence == "model" and anchor.evidence.strip():
        yield _json(EvidenceDraft(evidence=anchor.evidence))
    for _ in range(3 if chained and sources.tester else 0):
        yield json.dumps({"sql": anchor.sql})
    if sources.drift == "model":
        edit = next((drift for drift in anchor.drifts if drift.label == anchor.assigned), None)
        yield json.dumps({
            "drift_utterance": anchor.question,
            "post_drift_sql": edit.sql if edit else anchor.sql,
            "fine_subtype": anchor.assigned.fine_subtype,
        })  # fmt: skip
    for _ in sources.drift_judges:
        yield _json(DriftOpinion(drift_fit=True, stability=True, reason=anchor.question))


def _draft(anchor: AnchorQuery) -> ChainDraft:
    layers = [
        LayerDraft(term=_TERM, question=f"{anchor.question} {number}", answer=f"The one {number}.",
                   alternative=f"The other {number}.", decisions=(1,))
        for number in (1, 2)
    ]  # fmt: skip
    return ChainDraft(
        ambiguous_question=f"{anchor.question} (roughly)", l1=layers[0], l2=layers[1], verdict="eliminated"
    )


def _json(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()

"""The drift of an anchor (Appendix B.2): from a model, the tree or a file; the eight checks; two judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ....adapters.base import Answer
from ..actions import Malformed, read_object
from ..checks import Anchor, Candidate, Failure, first_failure, read_candidate
from ..desk import Desk
from ..drift import compare
from ..nodes import atomic_nodes, in_words
from ..samples import DriftLabel
from ..units import Commitment
from .anchors import AnchorQuery
from .answers import DRIFT_SCHEMA, DriftOpinion
from .attempting import Tried, attempted
from .judging import judged
from .prompts import Rejected, drift_judge_prompt, drift_prompt
from .record import Attempt, StageRecord
from .settings import Sources, query_key
from .steps import Steps
from .words import words


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a source gives as a drift of `label`, and its own words if it has any.

    `signal` names a source's failure that Table 7 lacks.
    """

    found: Candidate | Failure
    label: DriftLabel
    text: str = ""
    signal: str = ""


Kept: TypeAlias = tuple[Candidate, DriftLabel]
"""A candidate that passed, with the label under which it stands in a triplet."""


async def make_drift(
    steps: Steps, anchor: AnchorQuery, desk: Desk, sources: Sources, model: str
) -> tuple[StageRecord, Kept | None]:
    """Return the attempts at a drift, and the one that passed the checks and the judges."""
    nodes = atomic_nodes(anchor.sql, desk.schema)

    async def by_model(rejected: Sequence[Rejected]) -> Tried[Kept]:
        answer = await steps.ask(model, drift_prompt(anchor, desk.ddl, nodes, rejected), DRIFT_SCHEMA)
        return await _tried(steps, anchor, desk, Proposal(_read(answer), anchor.assigned, answer.text), sources)

    async def without_model(_: Sequence[Rejected]) -> Tried[Kept]:
        proposal = from_tree(anchor, desk) if sources.drift == "tree" else _from_file(anchor, sources)
        return await _tried(steps, anchor, desk, proposal, sources)

    if sources.drift == "model":
        return await attempted(model, sources.attempts, by_model)
    return await attempted(sources.drift, 1, without_model)


async def _tried(steps: Steps, anchor: AnchorQuery, desk: Desk, proposal: Proposal, sources: Sources) -> Tried[Kept]:
    """Put a candidate to the eight checks, then to the judges."""
    step = steps.last if sources.drift == "model" else None
    candidate = proposal.found
    if not isinstance(candidate, Failure):
        candidate = await _failure(steps, anchor, desk, proposal.label, candidate) or candidate
    if isinstance(candidate, Failure):
        signal = proposal.signal or candidate.signal
        return Tried(Attempt(step=step, signal=signal, detail=candidate.detail), text=proposal.text)
    said = candidate.drift_utterance, candidate.post_drift_sql
    prompt = drift_judge_prompt(anchor, proposal.label, *said)
    votes, against = await judged(steps, sources.drift_judges, prompt, DriftOpinion)
    if against:
        return Tried(Attempt(step=step, signal=against[0], detail=against[1], votes=votes), text=proposal.text)
    return Tried(Attempt(step=step, votes=votes), (candidate, _label(proposal, candidate)))


async def _failure(
    steps: Steps, anchor: AnchorQuery, desk: Desk, label: DriftLabel, candidate: Candidate
) -> Failure | None:
    """Return the first of the eight checks that a candidate fails."""
    results = {anchor.sql: await steps.gold(anchor.database, anchor.sql)}
    results[candidate.post_drift_sql] = await steps.run(anchor.database, candidate.post_drift_sql)
    before = Anchor(anchor.sql, results.__getitem__, desk.schema)
    # sqlglot on what a model wrote may take long: in a thread, so that nothing else waits for it.
    return await asyncio.to_thread(first_failure, candidate, before, label)


def from_tree(anchor: AnchorQuery, desk: Desk) -> Proposal:
    """Return the drift that an edit of the anchor's tree makes, put into plain words."""
    edit = next((drift for drift in anchor.drifts if drift.label == anchor.assigned), None)
    if edit is None:
        absent = Failure("json_format", "no edit of the tree makes a drift of the assigned kind")
        return Proposal(absent, anchor.assigned, signal="no_edit")
    before, after = desk.committed(anchor.sql), desk.committed(edit.sql)
    outcome = compare(before, after)
    said = words().edits
    template = getattr(said, anchor.assigned.subtype)
    if anchor.assigned.subtype == "projection" and not outcome.added:
        template = said.dropped
    utterance = template.format(retracted=_said(outcome.retracted), added=_said(outcome.added))
    fine = edit.label.fine_subtype
    candidate = Candidate(drift_utterance=utterance, post_drift_sql=edit.sql, fine_subtype=fine)
    return Proposal(candidate, anchor.assigned)


def _label(proposal: Proposal, candidate: Candidate) -> DriftLabel:
    """Return the label under which a candidate that passed stands in a triplet."""
    label = proposal.label
    if label.subtype != "projection" or label.fine_subtype:
        return label
    return DriftLabel(subtype="projection", fine_subtype=candidate.fine_subtype)


def _said(units: Iterable[Commitment]) -> str:
    return "; ".join(in_words(unit) for unit in sorted(units))


def _read(answer: Answer) -> Candidate | Failure:
    """Read a generator's answer out of its fence, if it has one; whatever else is not one object fails step 1."""
    if answer.finish != "stop":
        return Failure("json_format", "it is a refusal" if answer.finish == "refused" else "it was cut")
    try:
        return read_candidate(json.dumps(read_object(answer.text)))
    except Malformed as error:
        return Failure("json_format", str(error))


def _from_file(anchor: AnchorQuery, sources: Sources) -> Proposal:
    triplet = sources.files["drift"].get(query_key(anchor.database, anchor.sql))
    if triplet is None or len(triplet.stages) < 2:
        absent = Failure("json_format", "the file has no drift for this query")
        return Proposal(absent, anchor.assigned, signal="not_in_file")
    drift = triplet.stages[1]
    return Proposal(Candidate.of(drift), drift.drift or anchor.assigned)

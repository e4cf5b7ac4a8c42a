"""The drift of an anchor (Appendix B.2): from a model, the tree or a file; the eight checks; two judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ....adapters.base import Answer
from ..actions import Malformed, read_object
from ..checks import Anchor, Candidate, Failure, first_failure, read_candidate
from ..desk import Desk
from ..drift import compare
from ..nodes import atomic_nodes, in_words
from ..samples import DriftLabel
from ..units import Commitment
from .anchors import AnchorQuery, TreeDrift
from .answers import DRIFT_SCHEMA, DriftOpinion
from .attempting import Tried, attempted
from .judging import judged
from .prompts import Moment, Rejected, drift_judge_prompt, drift_prompt
from .record import Attempt, DriftPiece, StageRecord
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a drift is made: from which query of which anchor, and which of its drifts it is, 1 the first."""

    anchor: AnchorQuery
    desk: Desk
    moment: Moment
    number: int

    @property
    def planned(self) -> TreeDrift | None:
        """The edit of a tree that is planned here."""
        return self.anchor.edit(self.number)

    @property
    def assigned(self) -> DriftLabel:
        """The label that the drift is to have."""
        return self.planned.label if self.number > 1 and self.planned else self.anchor.assigned


async def make_drift(steps: Steps, place: Place, sources: Sources, model: str) -> tuple[StageRecord, DriftPiece | None]:
    """Return the attempts at a drift, and the one that passed the checks and the judges."""
    anchor, desk, moment = place.anchor, place.desk, place.moment
    nodes = atomic_nodes(moment.sql, desk.schema)

    async def by_model(rejected: Sequence[Rejected]) -> Tried[DriftPiece]:
        prompt = drift_prompt(anchor, moment, place.assigned, desk.ddl, nodes, rejected)
        answer = await steps.ask(model, prompt, DRIFT_SCHEMA)
        return await _tried(steps, place, Proposal(_read(answer), place.assigned, answer.text), sources)

    async def without_model(_: Sequence[Rejected]) -> Tried[DriftPiece]:
        proposal = from_tree(place) if sources.drift == "tree" else _from_file(place, sources)
        return await _tried(steps, place, proposal, sources)

    if sources.drift == "model":
        return await attempted(model, sources.attempts, by_model)
    return await attempted(sources.drift, 1, without_model)


async def _tried(steps: Steps, place: Place, proposal: Proposal, sources: Sources) -> Tried[DriftPiece]:
    """Put a candidate to the eight checks, then to the judges."""
    step = steps.last if sources.drift == "model" else None
    candidate = proposal.found
    if not isinstance(candidate, Failure):
        candidate = await _failure(steps, place, proposal.label, candidate) or candidate
    if isinstance(candidate, Failure):
        signal = proposal.signal or candidate.signal
        return Tried(Attempt(step=step, signal=signal, detail=candidate.detail), text=proposal.text)
    said = candidate.drift_utterance, candidate.post_drift_sql
    prompt = drift_judge_prompt(place.moment, proposal.label, *said)
    votes, against = await judged(steps, sources.drift_judges, prompt, DriftOpinion)
    if against:
        return Tried(Attempt(step=step, signal=against[0], detail=against[1], votes=votes), text=proposal.text)
    utterance, sql = (text.strip() for text in said)
    piece = DriftPiece(utterance=utterance, sql=sql, label=_label(proposal, candidate))
    return Tried(Attempt(step=step, votes=votes), piece)


async def _failure(steps: Steps, place: Place, label: DriftLabel, candidate: Candidate) -> Failure | None:
    """Return the first of the eight checks that a candidate fails."""
    database, pre, post = place.anchor.database, place.moment.sql, candidate.post_drift_sql
    # The anchor's query is gold; what later drifts start from is a candidate that has passed.
    run = steps.gold if place.number == 1 else steps.run
    results = {pre: await run(database, pre)}
    results[post] = await steps.run(database, post)
    before = Anchor(pre, results.__getitem__, place.desk.schema)
    # sqlglot on what a model wrote may take long: in a thread, so that nothing else waits for it.
    return await asyncio.to_thread(first_failure, candidate, before, label)


def from_tree(place: Place) -> Proposal:
    """Return the drift that an edit of the query's tree makes, put into plain words."""
    edit, label = place.planned, place.assigned
    if edit is None:
        absent = Failure("json_format", "no edit of the tree makes a drift of the assigned kind")
        return Proposal(absent, label, signal="no_edit")
    outcome = compare(place.desk.committed(place.moment.sql), place.desk.committed(edit.sql))
    said = words().edits
    template = getattr(said, label.subtype)
    if label.subtype == "projection" and not outcome.added:
        template = said.dropped
    utterance = template.format(retracted=_said(outcome.retracted), added=_said(outcome.added))
    fine = edit.label.fine_subtype
    candidate = Candidate(drift_utterance=utterance, post_drift_sql=edit.sql, fine_subtype=fine)
    return Proposal(candidate, label)


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


def _from_file(place: Place, sources: Sources) -> Proposal:
    triplet = sources.files["drift"].get(query_key(place.anchor.database, place.anchor.sql))
    if triplet is None or len(triplet.stages) <= place.number:
        absent = Failure("json_format", "the file has no such drift for this query")
        return Proposal(absent, place.assigned, signal="not_in_file")
    drift = triplet.stages[place.number]
    return Proposal(Candidate.of(drift), drift.drift or place.assigned)

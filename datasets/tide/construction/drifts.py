"""The drift of an anchor (Appendix B.2): from a model, the tree or a file; the eight checks; two judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import structs

from ..actions import Malformed, read_object
from ..checks import Anchor, Candidate, Failure, first_failure, read_candidate
from ..desk import Desk
from ..drift import compare
from ..nodes import Node, atomic_nodes, in_words
from ..samples import DriftLabel
from ..units import Commitment
from .anchors import AnchorQuery
from .answers import DRIFT_SCHEMA, DriftOpinion
from .judging import NO_JUDGEMENT, rejection, vote
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


class DriftStage:
    """Makes drifts of the assigned labels."""

    def __init__(self, sources: Sources, model: str) -> None:
        self._sources = sources
        self._model = model

    async def run(
        self, steps: Steps, anchor: AnchorQuery, desk: Desk
    ) -> tuple[StageRecord, tuple[Candidate, DriftLabel] | None]:
        """Return the attempts, and the candidate with its label when one passed the checks and the judges."""
        attempts: list[Attempt] = []
        rejected: list[Rejected] = []
        by_model = self._sources.drift == "model"
        source = self._model if by_model else self._sources.drift
        nodes = atomic_nodes(anchor.sql, desk.schema)
        for _ in range(self._sources.attempts if by_model else 1):
            proposal = await self._proposed(steps, anchor, desk, nodes, rejected)
            step = steps.last if by_model else None
            attempt, candidate = await self._tried(steps, anchor, desk, proposal)
            attempts.append(structs.replace(attempt, step=step))
            if candidate:
                return StageRecord(source=source, attempts=tuple(attempts)), (candidate, _label(proposal, candidate))
            if attempt.signal == NO_JUDGEMENT:  # no fault of the candidate's
                break
            rejected.append(Rejected(proposal.text, attempt.signal, attempt.detail))
        return StageRecord(source=source, attempts=tuple(attempts)), None

    async def _proposed(
        self, steps: Steps, anchor: AnchorQuery, desk: Desk, nodes: Sequence[Node], rejected: Sequence[Rejected]
    ) -> Proposal:
        """Return what the source gives. A file assigns the kind of its drifts itself."""
        match self._sources.drift:
            case "tree":
                return from_tree(anchor, desk)
            case "file":
                return _from_file(anchor, self._sources)
            case _:
                prompt = drift_prompt(anchor, desk.ddl, nodes, anchor.assigned, rejected)
                answer = await steps.ask(self._model, prompt, DRIFT_SCHEMA)
                if answer.finish != "stop":
                    return Proposal(
                        Failure("json_format", f"the answer was {answer.finish}"), anchor.assigned, answer.text
                    )
                return Proposal(_read(answer.text), anchor.assigned, answer.text)

    async def _tried(
        self, steps: Steps, anchor: AnchorQuery, desk: Desk, proposal: Proposal
    ) -> tuple[Attempt, Candidate | None]:
        candidate = proposal.found
        if isinstance(candidate, Failure):
            return Attempt(signal=proposal.signal or candidate.signal, detail=candidate.detail), None
        results = {anchor.sql: await steps.gold(anchor.database, anchor.sql)}
        results[candidate.post_drift_sql] = await steps.run(anchor.database, candidate.post_drift_sql)
        before = Anchor(anchor.sql, results.__getitem__, desk.schema)
        # sqlglot on what a model wrote may take long: in a thread, so that nothing else waits for it.
        failure = await asyncio.to_thread(first_failure, candidate, before, proposal.label)
        if failure:
            return Attempt(signal=failure.signal, detail=failure.detail), None
        said = candidate.drift_utterance, candidate.post_drift_sql
        prompt = drift_judge_prompt(anchor, proposal.label, *said)
        votes = tuple([await vote(steps, judge, prompt, DriftOpinion) for judge in self._sources.drift_judges])
        if against := rejection(votes):
            return Attempt(signal=against[0], detail=against[1], votes=votes), None
        return Attempt(votes=votes), candidate


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


def _read(text: str) -> Candidate | Failure:
    """Read a generator's answer out of its fence, if it has one; whatever else is not one object is step 1's."""
    try:
        return read_candidate(json.dumps(read_object(text)))
    except Malformed as error:
        return Failure("json_format", str(error))


def _from_file(anchor: AnchorQuery, sources: Sources) -> Proposal:
    triplet = sources.files["drift"].get(query_key(anchor.database, anchor.sql))
    if triplet is None or len(triplet.stages) < 2:
        absent = Failure("json_format", "the file has no drift for this query")
        return Proposal(absent, anchor.assigned, signal="not_in_file")
    drift = triplet.stages[1]
    return Proposal(Candidate.of(drift), drift.drift or anchor.assigned)

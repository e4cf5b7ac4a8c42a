"""Rewriting the evidence of an anchor (Appendix B.3), and whether what is left still serves (Table 8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ....adapters.base import Message
from ..actions import Malformed
from ..desk import Desk
from ..samples import Layer
from .anchors import AnchorQuery
from .answers import SCHEMAS, EvidenceDraft, Sql, read
from .attempting import Tried, attempted
from .prompts import Ambiguity, Moment, Rejected, evidence_prompt, tester_prompt
from .record import Attempt, Condition, StageRecord
from .settings import REWRITER, TESTER, Sources, query_key
from .steps import Steps
from .words import words

_CLAUSE = re.compile(r"\s*;\s*")


def without_resolutions(evidence: str, layers: Iterable[Layer]) -> str:
    """Return the clauses of `evidence` (BIRD parts them by semicolons) that speak of no layer's term, in any case.

    This is the rewriting without a model: it drops a whole clause, and finds a term only in its own words.
    """
    terms = [layer.term.casefold() for layer in layers]
    clauses = [clause for clause in _CLAUSE.split(evidence.strip()) if clause]
    return "; ".join(clause for clause in clauses if not any(term in clause.casefold() for term in terms))


async def rewrite(
    steps: Steps, anchor: AnchorQuery, moment: Moment, chain: Ambiguity, sources: Sources, model: str
) -> tuple[StageRecord, str | None]:
    """Return the attempts, and the rewritten evidence when one passed.

    Nothing is rewritten where there is no evidence, or no chain that it could give away.
    """
    layers = chain.layers

    async def by_model(rejected: Sequence[Rejected]) -> Tried[str]:
        answer = await steps.ask(rewriter, evidence_prompt(anchor, moment, chain, rejected), SCHEMAS[EvidenceDraft])
        try:
            text = read(answer, EvidenceDraft).evidence.strip()
        except Malformed as error:
            return Tried(Attempt(step=steps.last, signal="json_format", detail=str(error)), text=answer.text)
        return _tried(text, layers, steps.last, answer.text)

    async def by_rules(_: Sequence[Rejected]) -> Tried[str]:
        return _tried(without_resolutions(anchor.evidence, layers), layers, None, "")

    async def by_file(_: Sequence[Rejected]) -> Tried[str]:
        triplet = sources.files["evidence"].get(query_key(anchor.database, anchor.sql))
        if triplet is None:
            return Tried(Attempt(signal="not_in_file", detail="the file has no evidence for this query"))
        return _tried(triplet.rewritten_evidence, layers, None, "")

    rewriter = REWRITER if sources.rewriter else model
    if not (anchor.evidence.strip() and layers):
        return StageRecord(source="none", attempts=(Attempt(),)), anchor.evidence
    match sources.evidence:
        case "rules":
            return await attempted("rules", 1, by_rules)
        case "file":
            return await attempted("file", 1, by_file)
        case _:
            return await attempted(rewriter, sources.attempts, by_model)


async def rebuilt(
    steps: Steps, anchor: AnchorQuery, moment: Moment, chain: Ambiguity, evidence: str, desk: Desk
) -> dict[Condition, bool]:
    """Return whether the tester finds the gold's result under each condition of Table 8."""
    ambiguous = "\n".join((*moment.said[:-1], chain.question))
    prompts: dict[Condition, list[Message]] = {
        "A": tester_prompt(desk.ddl, anchor.evidence, "\n".join(moment.said), ()),
        "B": tester_prompt(desk.ddl, evidence, ambiguous, chain.layers),
        "C": tester_prompt(desk.ddl, evidence, ambiguous, ()),
    }
    found: dict[Condition, bool] = {}
    for condition, prompt in prompts.items():
        try:
            sql = (await steps.ask_twice(TESTER, prompt, Sql, SCHEMAS[Sql])).sql
        except Malformed:
            found[condition] = False
        else:
            found[condition] = await steps.matches(anchor.database, sql, moment.sql)
    return found


def _tried(text: str, layers: Sequence[Layer], step: int | None, raw: str) -> Tried[str]:
    signal = _leak(text, layers)
    attempt = Attempt(step=step, signal=signal, detail=words().signals.get(signal, ""))
    return Tried(attempt, None if signal else text, raw)


def _leak(text: str, layers: Sequence[Layer]) -> str:
    """Return the signal of evidence that says a chosen answer, of several words, word for word."""
    answers = (layer.answer.casefold().rstrip(". ") for layer in layers)
    return "leaks_answer" if any(" " in said and said in text.casefold() for said in answers) else ""

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
from .prompts import Ambiguity, Rejected, evidence_prompt, tester_prompt
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
    steps: Steps, anchor: AnchorQuery, chain: Ambiguity, sources: Sources, model: str
) -> tuple[StageRecord, str | None]:
    """Return the attempts, and the rewritten evidence when one passed.

    Nothing is rewritten where there is no evidence, or no chain that it could give away.
    """
    if not (anchor.evidence.strip() and chain.layers):
        return StageRecord(source="none", attempts=(Attempt(),)), anchor.evidence
    match sources.evidence:
        case "rules":
            return _checked("rules", without_resolutions(anchor.evidence, chain.layers), chain)
        case "file":
            triplet = sources.files["evidence"].get(query_key(anchor.database, anchor.sql))
            if triplet is None:
                absent = Attempt(signal="not_in_file", detail="the file has no evidence for this query")
                return StageRecord(source="file", attempts=(absent,)), None
            return _checked("file", triplet.rewritten_evidence, chain)
        case _:
            return await _by_model(steps, anchor, chain, sources, REWRITER if sources.rewriter else model)


async def rebuilt(
    steps: Steps, anchor: AnchorQuery, chain: Ambiguity, evidence: str, desk: Desk
) -> dict[Condition, bool]:
    """Return whether the tester finds the gold's result under each condition of Table 8."""
    prompts: dict[Condition, list[Message]] = {
        "A": tester_prompt(desk.ddl, anchor.evidence, anchor.question, ()),
        "B": tester_prompt(desk.ddl, evidence, chain.question, chain.layers),
        "C": tester_prompt(desk.ddl, evidence, chain.question, ()),
    }
    found: dict[Condition, bool] = {}
    for condition, prompt in prompts.items():
        try:
            sql = (await steps.ask_twice(TESTER, prompt, Sql, SCHEMAS[Sql])).sql
        except Malformed:
            found[condition] = False
        else:
            found[condition] = await steps.matches(anchor.database, sql, anchor.sql)
    return found


async def _by_model(
    steps: Steps, anchor: AnchorQuery, chain: Ambiguity, sources: Sources, model: str
) -> tuple[StageRecord, str | None]:
    attempts: list[Attempt] = []
    rejected: list[Rejected] = []
    while len(attempts) < sources.attempts:
        answer = await steps.ask(model, evidence_prompt(anchor, chain, rejected), SCHEMAS[EvidenceDraft])
        try:
            text = read(answer, EvidenceDraft).evidence.strip()
        except Malformed as error:
            attempts.append(Attempt(step=steps.last, signal="json_format", detail=str(error)))
        else:
            signal = _leak(text, chain.layers)
            attempts.append(Attempt(step=steps.last, signal=signal, detail=words().signals.get(signal, "")))
            if not signal:
                return StageRecord(source=model, attempts=tuple(attempts)), text
        rejected.append(Rejected(answer.text, attempts[-1].signal, attempts[-1].detail))
    return StageRecord(source=model, attempts=tuple(attempts)), None


def _checked(source: str, text: str, chain: Ambiguity) -> tuple[StageRecord, str | None]:
    signal = _leak(text, chain.layers)
    attempt = Attempt(signal=signal, detail=words().signals.get(signal, ""))
    return StageRecord(source=source, attempts=(attempt,)), None if signal else text


def _leak(text: str, layers: Sequence[Layer]) -> str:
    """Return the signal of evidence that says a chosen answer, of several words, word for word."""
    answers = (layer.answer.casefold().rstrip(". ") for layer in layers)
    return "leaks_answer" if any(" " in said and said in text.casefold() for said in answers) else ""

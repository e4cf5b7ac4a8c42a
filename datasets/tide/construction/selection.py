"""Which questions become anchors (§3.2): rules, then a stratified draw, then a drift for each, assigned in advance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from msgspec import structs
from sqlglot import TokenType

from ...draw import Draw, evenly
from ...gold import GoldRunner
from ..commitments import commitments
from ..design import PAPERS, Design
from ..editing import written
from ..fixed import Doubts, is_volatile
from ..parsing import UnparsableSql, parse, tokenize
from ..samples import SUBTYPES, TIERS, DriftLabel
from ..schema import Schema
from ..structure import Subtype, Tier, structural_score, structure_of, tier_of
from ..units import Commitment
from .anchors import REASONS, AnchorQuery, Reason, Selection, Stratum, TreeDrift
from .questions import Question
from .yields import Ground

_SECONDS = 10.0
_Cell: TypeAlias = tuple[Tier, str]


def select(
    questions: Iterable[Question],
    databases: Mapping[str, Path],
    count: int | None = None,
    seed: int = 0,
    design: Design = PAPERS,
) -> tuple[tuple[AnchorQuery, ...], Selection]:
    """Return the anchors among `questions` that carry `design`, at most `count` of them, and how they came.

    A question over a database that is not in `databases` is counted and passed over.
    """
    dropped: Counter[Reason] = Counter(dict.fromkeys(REASONS, 0))
    seen, ids = set[tuple[str, str]](), Counter[str]()
    kept, executable = list[AnchorQuery](), list[_Executed]()
    with GoldRunner(databases, _SECONDS) as runner, Doubts(databases, _SECONDS) as doubts:
        grounds = {name: Ground(name, path, runner, doubts) for name, path in databases.items()}
        for question in questions:
            found = _judged(question, grounds, seen, design)
            if isinstance(found, _Executed):
                executable.append(found)
                named = structs.replace(found.anchor, id=_unique(found.anchor.id, ids))
                found = _fit(named, found, grounds[named.database].schema, design)
            if isinstance(found, AnchorQuery):
                kept.append(found)
            else:
                dropped[found] += 1
    drawn = stratified(kept, count, seed)
    anchors = assigned(drawn, seed)
    labels = (drift.label for each in executable for drift in each.firsts)
    selection = Selection(
        candidates=len(kept) + dropped.total(),
        dropped=dict(dropped),
        kept=len(kept),
        drawn=len(anchors),
        strata=tuple(_strata(kept, drawn)),
        executable=len(executable),
        yields=_by_subtype(each.firsts for each in executable),
        fine_yields=dict(Counter(label.fine_subtype for label in labels if label.fine_subtype)),
        open_results=sum(each.open_results for each in executable),
        sequences=_by_subtype(each.anchor.drifts for each in executable) if design.drifts > 1 else {},
    )
    return anchors, selection


@dataclass(frozen=True, slots=True)
class _Executed:
    """A question that runs and returns something: the anchor with the sequences of drifts that a design asks for,
    every first drift whether or not others follow it, and the number of edits whose results are open.
    """

    anchor: AnchorQuery
    firsts: tuple[TreeDrift, ...]
    open_results: int


def _by_subtype(yields: Iterable[Sequence[TreeDrift]]) -> dict[Subtype, int]:
    """Count those with a drift of each subtype."""
    counts = Counter(subtype for drifts in yields for subtype in {drift.label.subtype for drift in drifts})
    return {subtype: counts[subtype] for subtype in SUBTYPES}


def choices(sql: str, schema: Schema | None = None) -> int:
    """Return how many decisions a query holds: its commitments but for select items that are a column and no more.

    A filter, an aggregate, a grouping or sorting key, a bound of rows can each be left open by a question; which column
    is shown rarely can. Raises UnparsableSql.
    """
    return sum(not _is_plain(unit) for unit in commitments(sql, schema))


def stratified(anchors: Sequence[AnchorQuery], count: int | None, seed: int) -> list[AnchorQuery]:
    """Draw `count` of `anchors`, as evenly over tiers and splits as their numbers allow; all when there are fewer."""
    return evenly(anchors, lambda anchor: (anchor.tier, anchor.split), count, "tide anchors", seed)


def assigned(anchors: Sequence[AnchorQuery], seed: int) -> tuple[AnchorQuery, ...]:
    """Assign each anchor one of the drifts that it admits, the subtypes balanced, the output clauses within them too.

    Those with the least choice come first; each takes what was taken least.
    """
    subtypes, labels, given = Counter[str](), Counter[DriftLabel](), dict[str, DriftLabel]()
    order = Draw("tide subtypes", seed).shuffled(anchors)
    for anchor in sorted(order, key=lambda anchor: len({drift.label.subtype for drift in anchor.drifts})):
        options = [drift.label for drift in anchor.drifts]
        label = min(options, key=lambda each: (subtypes[each.subtype], labels[each], SUBTYPES.index(each.subtype)))
        subtypes[label.subtype] += 1
        labels[label] += 1
        given[anchor.id] = label
    return tuple(structs.replace(anchor, assigned=given[anchor.id]) for anchor in anchors)


def _judged(
    question: Question, grounds: Mapping[str, Ground], seen: set[tuple[str, str]], design: Design
) -> _Executed | Reason:
    """Return the question as one that runs, or why it is no anchor."""
    if not (question.question and question.sql):
        return "no_text"
    ground = grounds.get(question.database)
    if ground is None:
        return "no_database"
    try:
        tree = parse(question.sql)
        text = written(tree.copy())
    except UnparsableSql:
        return "sql_parse"
    if (question.database, text) in seen:
        return "repeated"
    seen.add((question.database, text))
    return "volatile" if is_volatile(tree) else _executed(question, ground, design)


def _unique(name: str, taken: Counter[str]) -> str:
    """Return `name` as what may be part of a dialogue's key, numbered when another question has it already."""
    safe = re.sub(r"[^\w.:-]", "-", name, flags=re.ASCII)
    taken[safe] += 1
    return safe if taken[safe] == 1 else f"{safe}:{taken[safe]}"


def _executed(question: Question, ground: Ground, design: Design) -> _Executed | Reason:
    result = ground.run(question.sql)
    if result.error is not None:
        return "sql_execute"
    if result.blank:
        return "empty_result"
    ground.begin()
    try:
        firsts = ground.drifts(question.sql)
        drifts = tuple(ground.sequences(question.sql, firsts, design.drifts))
    except UnparsableSql:
        return "sql_parse"
    score = structural_score(structure_of(question.sql))
    named = question.id if question.id.startswith(question.database) else ""
    anchor = AnchorQuery(
        id=named or f"{question.database}-{question.split}-{question.id}",
        database=question.database,
        split=question.split,
        question=question.question,
        evidence=question.evidence,
        sql=question.sql,
        score=score,
        tier=tier_of(score),
        assigned=drifts[0].label if drifts else DriftLabel(subtype="value"),
        drifts=drifts,
        values={predicate: values for predicate, values in ground.values.items() if values},
    )
    return _Executed(anchor, firsts, len(ground.open_results))


def _fit(anchor: AnchorQuery, found: _Executed, schema: Schema, design: Design) -> AnchorQuery | Reason:
    """Return the anchor with the drifts that leave a chain enough to be about: one decision for each layer."""
    if not design.opens and choices(anchor.sql, schema) < design.depth:
        return "too_simple"
    if not anchor.drifts:
        return "open_result" if found.open_results else "no_drift"
    if not design.opens:
        return anchor
    opened = ((drift, (drift, *drift.later)[design.opens - 1].sql) for drift in anchor.drifts)
    fit = tuple(drift for drift, sql in opened if choices(sql, schema) >= design.depth)
    return structs.replace(anchor, drifts=fit) if fit else "too_simple"


def _is_plain(unit: Commitment) -> bool:
    """Return whether a unit shows a column, by its name alone or with its table's, and nothing more."""
    types = [token.token_type for token in tokenize(unit.value)] if unit.clause == "select" else []
    return len(types) == 1 or (len(types) == 3 and types[1] is TokenType.DOT)


def _strata(kept: Sequence[AnchorQuery], drawn: Sequence[AnchorQuery]) -> list[Stratum]:
    all_of, some_of = (Counter[_Cell]((anchor.tier, anchor.split) for anchor in each) for each in (kept, drawn))
    cells = sorted(all_of, key=lambda cell: (TIERS.index(cell[0]), cell[1]))
    return [Stratum(tier=cell[0], split=cell[1], kept=all_of[cell], drawn=some_of[cell]) for cell in cells]

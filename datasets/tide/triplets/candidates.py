"""One triplet from one template by drawing, or none: it must pass every check before it is one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from sqlglot import exp

from ...draw import Draw
from ..checks import Anchor, Candidate, first_failure
from ..commitments import commitments
from ..drift import compare
from ..editing import written
from ..samples import DriftLabel, Stage, Triplet
from ..structure import Subtype, complexity_tier
from .annotate import other_readings, said_nodes, settled_layers
from .changes import Change, Drop, Project, Swap, Turn
from .ground import Ground
from .hearing import Standing, read
from .library import counts
from .model import Path, Template
from .plan import DOUBLE_DROPS, Wanted
from .request import Request
from .shapes import shapes

WORDINGS = 6
"""A multiple of the number of wordings of each kind of drift turn."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One stage: how the request stands, its query as tree and as text, and the change of mind that led to it."""

    request: Request
    tree: exp.Query
    sql: str
    change: Change | None = None

    @classmethod
    def of(cls, standing: Standing | None, change: Change | None = None) -> Drawn | None:
        """Return the stage that a standing is; None without one, or while a layer is open."""
        if standing is None or standing.tree is None:
            return None
        return cls(standing.request, standing.tree, written(standing.tree), change)

    @property
    def standing(self) -> Standing:
        """What a change of mind starts from."""
        return Standing(self.request, self.tree)


def attempt(
    ground: Ground, template: Template, wanted: Wanted, anchors: set[tuple[str, str]], draw: Draw
) -> Triplet | None:
    """Draw one triplet of `template` of the kind that is wanted, its id still empty; None when it is not fit.

    `anchors` holds the (database, SQL) pairs that have been used: no other triplet may have them.
    """
    request = _request(ground, template, wanted, draw)
    stages = request and _stages(ground, request, wanted, draw)
    if not stages or (ground.database, stages[0].sql) in anchors or not _has_an_effect(ground, stages):
        return None
    readings = other_readings(stages[wanted.design.opens].request)
    if not _depends_on_every_layer(ground, stages[wanted.design.opens], readings):
        return None
    return _triplet(ground, stages, readings, wanted, [draw.below(WORDINGS) for _ in stages[1:]])


def _request(ground: Ground, template: Template, wanted: Wanted, draw: Draw) -> Request | None:
    """Draw a request that is wanted; None when the template has none, or the database no value for it."""
    by_count = shapes(template, wanted)
    if not by_count:
        return None
    path, held = draw.pick(by_count[draw.pick(list(by_count))])
    if not all(ground.values(condition) for condition in held):
        return None
    values = {condition.name: draw.pick(ground.values(condition)) for condition in held}
    numbers = {name: draw.pick(choices) for name, choices in template.numbers.items()}
    return Request(template, values, numbers, path)


def _stages(ground: Ground, request: Request, wanted: Wanted, draw: Draw) -> list[Drawn] | None:
    """Draw the changes of mind and return all stages; None when one of them cannot be.

    Where a drift opens the chain, the first question is how many rows there are.
    """
    first = replace(_count_of(request), values=request.values) if wanted.design.opens else request
    stage = Drawn.of(Standing.of(first))
    stages: list[Drawn] = []
    for number, subtype in enumerate(wanted.subtypes, 1):
        if stage is None:
            return None
        stages.append(stage)
        if number == wanted.design.opens:
            change = Turn(replace(request, values=stage.request.values)) if stage.request.values else None
        else:
            change = _change(ground, stage.request, subtype, draw)
        stage = change and Drawn.of(stage.standing.changed(change), change)
    return [*stages, stage] if stage else None


def _count_of(request: Request) -> Request:
    noun = request.template.subject.noun
    template = next(each for each in counts(request.template.database) if each.subject.noun == noun)
    return Request(template, {}, {})


def _change(ground: Ground, request: Request, subtype: Subtype, draw: Draw) -> Change | None:
    match subtype:
        case "value" if request.values:
            condition, old = draw.pick(list(request.conditions()))
            others = [value for value in ground.values(condition) if value != old]
            return Swap(condition, draw.pick(others)) if others else None
        case "constraint":
            droppable = [condition for condition, _ in request.conditions() if condition.droppable]
            size = 2 if len(droppable) > 1 and draw.chance(DOUBLE_DROPS) else 1
            groups = list(combinations(droppable, size))
            return Drop(draw.pick(groups)) if groups else None
        case "projection":
            place = draw.below(len(request.template.projections))
            projection = request.template.projections[place]
            name = "n" if projection.limit else "m" if projection.having else ""
            others = [number for number in request.template.numbers.get(name, ()) if number != request.numbers[name]]
            return Project(place, draw.pick(others) if others else 0)
        case _:
            return None


def _has_an_effect(ground: Ground, stages: Sequence[Drawn]) -> bool:
    """Tell whether all queries run, give values, differ from the last, and none is left open by a tie at its LIMIT."""
    results = [ground.run(stage.sql) for stage in stages]
    if any(result.error or result.blank for result in results) or len({stage.sql for stage in stages}) < len(stages):
        return False
    if any(before.multiset == after.multiset for before, after in pairwise(results)):
        return False
    return not any(ground.is_tied(stage.tree) for stage in stages)


def _depends_on_every_layer(ground: Ground, opened: Drawn, readings: dict[Path, str]) -> bool:
    """Tell whether every other reading gives another result: then nobody gets this one right without asking."""
    chosen = ground.run(opened.sql).multiset
    return all(ground.run(sql).multiset != chosen for sql in readings.values())


def _triplet(
    ground: Ground, drawn: Sequence[Drawn], readings: dict[Path, str], wanted: Wanted, wordings: Sequence[int]
) -> Triplet | None:
    """Return the triplet when its words say all of it and its drifts pass the eight checks."""
    opened = drawn[wanted.design.opens]
    chain = tuple(settled_layers(opened.request, opened.sql, readings, ground.schema))
    stages: list[Stage] = []
    for number, stage in enumerate(drawn):
        said, ambiguous = _said(drawn, number, wordings)
        label = _label(ground, drawn[number - 1].sql, stage.sql, wanted.subtypes[number - 1], said) if number else None
        if number and label is None:
            return None
        opens = number == wanted.design.opens
        stages.append(
            Stage(
                utterance=said,
                ambiguous=ambiguous if opens else "",
                layers=chain if opens else (),
                drift=label,
                sql=stage.sql,
                tier=complexity_tier(stage.sql, chain[1].verdict, wanted.subtypes[0]),
                nodes=said_nodes(stage.request, stage.tree, dict(stage.request.conditions()), ground.schema),
            )
        )
    if not _are_heard(ground.database, stages):
        return None
    codes = "; ".join(_codes(drawn, opened.request.template))
    resolved = f"{opened.request.template.term} refers to {opened.request.reading().phrase.rstrip(',')}"
    return Triplet(
        id="",
        database=ground.database,
        split="synthetic",
        evidence="; ".join(filter(None, (codes, resolved))),
        rewritten_evidence=codes,
        stages=tuple(stages),
        provenance={
            "anchor": f"template {opened.request.template.name}",
            "chain": "template",
            "evidence": "template",
            "drift": "tree edit",
            "checks": "all eight of Table 7",
        },
    )


def _said(drawn: Sequence[Drawn], number: int, wordings: Sequence[int]) -> tuple[str, str]:
    """Return what the user says at a stage, complete and with what is ambiguous about it left open."""
    request, change = drawn[number].request, drawn[number].change
    if change is None:
        return request.question(), request.ambiguous_question()
    before, wording = drawn[number - 1].request, wordings[number - 1]
    vague = Turn(change.to.unanswered()) if isinstance(change, Turn) else change
    return change.say(before, wording), vague.say(before, wording)


def _label(ground: Ground, pre: str, post: str, subtype: Subtype, said: str) -> DriftLabel | None:
    """Return the label of a drift, or None when it fails one of the eight checks."""
    retracted = compare(commitments(pre, ground.schema), commitments(post, ground.schema))
    label = DriftLabel(subtype=subtype, fine_subtype=retracted.fine_subtype)
    candidate = Candidate(drift_utterance=said, post_drift_sql=post)
    return None if first_failure(candidate, Anchor(pre, ground.run, ground.schema), label) else label


def _are_heard(database: str, stages: Sequence[Stage]) -> bool:
    """Tell whether the words alone give back every query, complete and clarified."""
    golds = tuple(stage.sql for stage in stages)
    answers = [layer.answer for stage in stages for layer in stage.layers]
    complete = read(database, [stage.utterance for stage in stages], ())
    return complete == golds == read(database, [stage.ambiguous or stage.utterance for stage in stages], answers)


def _codes(drawn: Sequence[Drawn], template: Template) -> Iterator[str]:
    """Yield what the schema's names and codes mean, of all that any reading uses: a gap would give the reading away."""
    texts = [template.sql, *(sql for option in template.readings().values() for sql in option.sql.values())]
    texts += [condition.sql for condition, _ in drawn[0].request.conditions()]
    for stage in drawn:
        if isinstance(stage.change, Project):
            projection = template.projections[stage.change.place]
            texts += [*projection.show, projection.group, projection.having]
    used = " ".join(texts)
    for column, meaning in template.subject.codes.items():
        if re.search(rf"\b{re.escape(column)}\b", used):
            yield meaning

"""One triplet from one template by drawing, or none: it must pass every check before it is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from ...draw import Draw
from ..checks import Anchor, Candidate, first_failure
from ..commitments import commitments
from ..drift import compare
from ..editing import Value, written
from ..samples import DriftLabel, Stage, Triplet
from ..structure import Subtype, complexity_tier
from .annotate import other_readings, said_nodes, settled_layers
from .changes import Change, Drop, Project, Swap
from .ground import Ground
from .hearing import hear_change, hear_question
from .library import templates
from .model import Condition, Path, Template
from .plan import DOUBLE_DROPS, Cell
from .request import Request
from .shapes import shapes

WORDINGS = 6
"""A multiple of the number of wordings of each kind of drift turn."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A request with its change of mind, and the queries before and after it as trees and as text."""

    request: Request
    change: Change
    trees: tuple[exp.Query, exp.Query]
    golds: tuple[str, str]


def attempt(
    ground: Ground, template: Template, cell: Cell, anchors: set[tuple[str, str]], draw: Draw
) -> Triplet | None:
    """Draw one triplet of `template` for `cell`, its id still empty; None when it is not fit.

    `anchors` holds the (database, SQL) pairs that have been used: no other triplet may have them.
    """
    request = _request(ground, template, cell, draw)
    change = request and _change(ground, request, cell[0], draw)
    if request is None or change is None:
        return None
    tree = request.tree()
    pre = written(tree)
    if (ground.database, pre) in anchors or ground.run(pre).blank:
        return None
    post = change.apply(request, tree)
    drawn = Drawn(request, change, (tree, post), (pre, written(post)))
    if not _has_an_effect(ground, drawn):
        return None
    readings = other_readings(drawn.request)
    if not _depends_on_every_layer(ground, drawn, readings):
        return None
    return _triplet(ground, drawn, readings, cell, draw.below(WORDINGS))


def _request(ground: Ground, template: Template, cell: Cell, draw: Draw) -> Request | None:
    """Draw a request of the cell's tier; None when the template has none, or the database no value for it."""
    subtype, tier, verdict = cell
    by_count = shapes(template, tier, verdict, subtype)
    if not by_count:
        return None
    path, held = draw.pick(by_count[draw.pick(list(by_count))])
    if not all(ground.values(condition) for condition in held):
        return None
    values = {condition.name: draw.pick(ground.values(condition)) for condition in held}
    numbers = {name: draw.pick(choices) for name, choices in template.numbers.items()}
    return Request(template, values, numbers, path)


def _change(ground: Ground, request: Request, subtype: Subtype, draw: Draw) -> Change | None:
    match subtype:
        case "value":
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


def _has_an_effect(ground: Ground, drawn: Drawn) -> bool:
    """Tell whether both queries run, give values, differ, and are not left open by a tie at their LIMIT."""
    results = [ground.run(sql) for sql in drawn.golds]
    if any(result.error or result.blank for result in results) or results[0].multiset == results[1].multiset:
        return False
    return not any(ground.is_tied(tree) for tree in drawn.trees)


def _depends_on_every_layer(ground: Ground, drawn: Drawn, readings: dict[Path, str]) -> bool:
    """Tell whether every other reading gives another result: then nobody gets this one right without asking."""
    chosen = ground.run(drawn.golds[0]).multiset
    return all(ground.run(sql).multiset != chosen for sql in readings.values())


def _triplet(ground: Ground, drawn: Drawn, readings: dict[Path, str], cell: Cell, wording: int) -> Triplet | None:
    """Return the triplet when its words say all of it and its drift passes the eight checks."""
    request, (pre, post) = drawn.request, drawn.golds
    utterance = drawn.change.say(request, wording)
    retracted = compare(commitments(pre, ground.schema), commitments(post, ground.schema))
    label = DriftLabel(subtype=cell[0], fine_subtype=retracted.fine_subtype)
    candidate = Candidate(drift_utterance=utterance, post_drift_sql=post)
    if first_failure(candidate, Anchor(pre, ground.run, ground.schema), label) or not _is_heard(drawn, utterance):
        return None
    codes = "; ".join(_codes(request, drawn.change))
    resolved = f"{request.template.term} refers to {request.reading().phrase.rstrip(',')}"
    return Triplet(
        id="",
        database=ground.database,
        split="synthetic",
        evidence="; ".join(filter(None, (codes, resolved))),
        rewritten_evidence=codes,
        stages=tuple(_stages(ground, drawn, readings, cell, (utterance, label))),
        provenance={
            "anchor": f"template {request.template.name}",
            "chain": "template",
            "evidence": "template",
            "drift": "tree edit",
            "checks": "all eight of Table 7",
        },
    )


def _stages(
    ground: Ground, drawn: Drawn, readings: dict[Path, str], cell: Cell, turn: tuple[str, DriftLabel]
) -> Iterator[Stage]:
    subtype, tier, verdict = cell
    request, held = drawn.request, dict(drawn.request.conditions())
    yield Stage(
        utterance=request.question(),
        ambiguous=request.ambiguous_question(),
        layers=tuple(settled_layers(request, drawn.golds[0], readings, ground.schema)),
        sql=drawn.golds[0],
        tier=tier,
        nodes=said_nodes(request, drawn.trees[0], held, ground.schema),
    )
    yield Stage(
        utterance=turn[0],
        drift=turn[1],
        sql=drawn.golds[1],
        tier=complexity_tier(drawn.golds[1], verdict, subtype),
        nodes=said_nodes(request, drawn.trees[1], _held_after(held, drawn.change), ground.schema),
    )


def _is_heard(drawn: Drawn, utterance: str) -> bool:
    """Tell whether the words alone give back the request, complete and clarified, and the change."""
    request, known = drawn.request, templates(drawn.request.template.database)
    clarified = hear_question(known, request.ambiguous_question())
    for layer in request.layers():
        clarified = clarified and clarified.answered(layer.answer)
    complete = hear_question(known, request.question())
    return clarified == complete == request and hear_change(request, utterance) == drawn.change


def _held_after(held: dict[Condition, Value], change: Change) -> dict[Condition, Value]:
    match change:
        case Swap(condition, new):
            return {**held, condition: new}
        case Drop(conditions):
            return {condition: value for condition, value in held.items() if condition not in conditions}
        case Project():
            return held


def _codes(request: Request, change: Change) -> Iterator[str]:
    """Yield what the schema's names and codes mean, of all that any reading uses: a gap would give the reading away."""
    template = request.template
    texts = [template.sql, *(sql for option in template.readings().values() for sql in option.sql.values())]
    texts += [condition.sql for condition, _ in request.conditions()]
    if isinstance(change, Project):
        projection = template.projections[change.place]
        texts += [*projection.show, projection.group, projection.having]
    used = " ".join(texts)
    for column, meaning in template.subject.codes.items():
        if re.search(rf"\b{re.escape(column)}\b", used):
            yield meaning

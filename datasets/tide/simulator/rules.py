"""The rule-based user, named `rules`: deterministic, free, and deaf to what its few rules do not cover.

It serves tests and runs without a key. The router compares words: a question is about the layer, or else the detail,
whose own words it shares most. `turntide tide check-simulator` says how far that carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from ....engine.unit import Context
from ..nodes import Node
from ..samples import Layer
from ..units import Clause
from ..words import words
from .annotation import annotation
from .situation import LOC, UNA, Rejected, Situation, Target

NAME: Final = "rules"
VERSION: Final = 2
"""Part of a run's identity: raise it whenever the rules could answer differently."""

ENOUGH: Final = 0.34
"""The least share of a question's telling words that must be a layer's own (or, for a detail, a detail's)."""

_INTERNAL: Final = re.compile(
    r"\b(?:tables?|columns?|schemas?|databases?|keys?|joins?|joined|indexe?s|indices|fields?|identifiers?|ids?|sql|"
    r"quer(?:y|ies)|syntax|views?|rows? ids?|data ?types?|stored|encoded|coded|codes?|nulls?|foreign|primary|"
    r"password|weather|favou?rite|benchmark|gold)\b",
    re.IGNORECASE,
)
"""Words of questions that no user can answer: how the data is kept, and what is beside the request."""

_SPELLED: Final = re.compile(r"\b(?:\w+_\w+|[A-Z]?[a-z]+[A-Z]\w*|NULL)\b")
"""A name as only a database spells it."""

_CLAUSES: Final[Mapping[Clause, re.Pattern[str]]] = {
    "limit": re.compile(r"\b(?:how many (?:\w+ )?(?:of|should|shall|do you|would)|enough|top|at most)\b", re.I),
    "order_by": re.compile(r"\b(?:sort(?:ed|ing)?|order(?:ed|ing)|rank(?:ed|ing)?|ascending|descending|first)\b", re.I),
    "group_by": re.compile(r"\b(?:grouped|broken down|break(?:down| it down)|per|for each|split)\b", re.I),
    "select": re.compile(r"\b(?:show|shown|display|include|listed?|output|see|return|figure)\b", re.I),
    "where": re.compile(r"\b(?:only|restrict(?:ed)?|filter(?:ed)?|exclude|period|years?|all of)\b", re.I),
}
"""Words that ask about one kind of detail when the question shares no word with any."""

_STOP: Final = frozenset(
    (
        "a about after all also am an and any are as at be been but by can could did do does for from had has have "
        "how i if in  into is it its just like may me mean means more most my need not of on one only or other our "
        "over please say shall  should so some such than that the their them then there these they thing this those "
        "to us use want wanted was we were  what when where whether which who why will with would you your exactly "
        "interested count counts counted by here  consider considered prefer refer referring talking "
    ).split()
)
_WORD: Final = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


class RulesRouter:
    """Stage 1 by rules."""

    async def route(self, ctx: Context, situation: Situation) -> Target:
        """Return the target; see `route`."""
        return route(situation)


class RulesGenerator:
    """Stage 2 by rules: says the annotation as it stands."""

    async def say(self, ctx: Context, situation: Situation, target: Target, rejected: Sequence[Rejected]) -> str:
        """Return the annotation; the rules know no other way to put it."""
        return say(situation, target)


def route(situation: Situation) -> Target:
    """Return what the question is about, by its words.

    A layer that it fits comes first, unless a detail fits better; words of the database's inside make it `Una`,
    and so does a name as only a database spells it, whatever else the question says.
    """
    if _SPELLED.search(situation.question):
        return Target(UNA)
    asked = telling(situation.question)
    details = [(_share(asked, telling(node.words)), node) for node in situation.nodes]
    best, node = max(details, key=lambda pair: pair[0], default=(0.0, None))
    layer = _nearest(asked, situation.layers)
    if layer and _share(asked, _own(layer)) >= max(ENOUGH, best):
        return Target(layer.label, _settled(layer, situation))
    if _INTERNAL.search(situation.question):
        return Target(UNA)
    if node and best >= ENOUGH:
        return Target(LOC, node.label)
    return _by_clause(situation)


def say(situation: Situation, target: Target) -> str:
    """Return the answer for `target`."""
    said, phrases = annotation(situation, target), words().rules
    if target.aim == UNA:
        return phrases.refusal
    if target.withheld:
        return phrases.withheld
    if said is None:
        return phrases.nothing
    return said if situation.layer(target.aim) else phrases.detail.format(words=said)


@lru_cache(maxsize=4096)
def telling(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about."""
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _nearest(asked: frozenset[str], layers: Sequence[Layer]) -> Layer | None:
    """Return the layer that the question is nearest to, by the words that only one layer has.

    A question about several is about the first of them: about each that it shares half as many such words with as with
    the nearest. Words that all layers have speak for the first.
    """
    own = [_own(layer) for layer in layers]
    alone = [words_of - frozenset().union(*own[:place], *own[place + 1 :]) for place, words_of in enumerate(own)]
    hits = [len(asked & only) for only in alone]
    most = max(hits, default=0)
    return next((layer for layer, count in zip(layers, hits, strict=True) if 2 * count >= most), None)


def _own(layer: Layer) -> frozenset[str]:
    """Return the words of a layer: of its question, of what it is about, and of both readings."""
    return telling(f"{layer.term} {layer.question} {layer.answer} {layer.alternative}")


def _share(asked: frozenset[str], own: frozenset[str]) -> float:
    return len(asked & own) / len(asked) if asked else 0.0


def _settled(layer: Layer, situation: Situation) -> str:
    return next((label for label in layer.nodes if situation.node(label)), "")


def _by_clause(situation: Situation) -> Target:
    """Return the first detail of the kind that the question asks for; `Loc` without one when there is none."""
    for clause, pattern in _CLAUSES.items():
        if pattern.search(situation.question):
            return Target(LOC, next(_of(clause, situation.nodes), ""))
    return Target(UNA)


def _of(clause: Clause, nodes: Iterable[Node]) -> Iterator[str]:
    return (node.label for node in nodes if node.unit.clause == clause)

"""How a reader understands what was said: a question becomes a request, a drift turn a change of it.

Nothing here knows a gold query. What an utterance does not say is not heard, so the SQL of a request that was heard
shows that the dialogue determines the gold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations

from sqlglot import exp

from ..editing import Value, written
from .changes import DOUBLE_DROPS, DROPS, SWAPS, TURNS, Change, Drop, Project, Swap, Turn
from .library import counts, templates
from .model import Condition, Template
from .request import Request

_PLACE = re.compile(r"\{(\w*)\}")


def hear_question(known: Sequence[Template], question: str) -> Request | None:
    """Return the request that `question` makes, its path empty when it is ambiguous and whole when it is complete.

    None for a question that follows none of the templates.
    """
    return next(requests_heard(known, question), None)


def hear_change(request: Request, utterance: str) -> Change | None:
    """Return the change that `utterance` makes to `request`, or None when it makes none that is known."""
    return next((change for change in _changes(request, utterance)), None)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a dialogue has come to: the request as it stands, and its query, None while a layer is open."""

    request: Request
    tree: exp.Query | None

    @classmethod
    def of(cls, request: Request) -> Standing:
        """Return where a question leads that makes this request."""
        return cls(request, None if request.open else request.tree())

    @classmethod
    def begun(cls, database: str, question: str) -> Standing | None:
        """Return where a first question leads, or None when it follows no template over `database`."""
        request = hear_question((*templates(database), *counts(database)), question)
        return request and cls.of(request)

    def answered(self, answer: str) -> Standing | None:
        """Return where the answer to the open layer leads, or None when it gives neither option."""
        request = self.request.answered(answer)
        return request and self.of(request)

    def turned(self, utterance: str) -> Standing | None:
        """Return where a drift turn leads, or None when it is not understood or a layer is open."""
        change = hear_change(self.request, utterance)
        return self.changed(change) if change else None

    def changed(self, change: Change) -> Standing | None:
        """Return where a change of mind leads, or None when a layer is open."""
        if isinstance(change, Turn):
            return self.of(change.to)
        return Standing(change.after(self.request), change.apply(self.request, self.tree)) if self.tree else None


def read(database: str, utterances: Sequence[str], answers: Sequence[str]) -> tuple[str | None, ...]:
    """Return the SQL that follows from each utterance, given the answers to what they leave open.

    None from the first utterance on that is not understood, or whose layers the answers do not resolve. This is what a
    perfect reader of the dialogue knows.
    """
    left, queries = iter(answers), list[str | None]()
    standing = Standing.begun(database, utterances[0])
    for place, utterance in enumerate(utterances):
        if place:
            standing = standing and standing.turned(utterance)
        while standing and standing.request.open and (answer := next(left, None)) is not None:
            standing = standing.answered(answer)
        queries.append(written(standing.tree) if standing and standing.tree else None)
    return tuple(queries)


def requests_heard(known: Sequence[Template], question: str) -> Iterator[Request]:
    """Yield every request that `question` could be: one at most, as long as the templates are distinct."""
    for template in known:
        for pattern, paths in (_ambiguous(template), _complete(template))[: 2 if template.options else 1]:
            heard = pattern.fullmatch(question)
            values = _values(template.conditions, heard["where"]) if heard else None
            if heard and values is not None:
                numbers = {name: int(heard[name]) for name in template.numbers}
                path = paths[heard["reading"]] if paths else ()
                yield Request(template, values, numbers, path)


def _changes(request: Request, utterance: str) -> Iterator[Change]:
    held = list(request.conditions())
    noun = request.template.subject.noun
    for condition, value in held:
        for wording in SWAPS:
            new = _heard(condition, _around(wording, "new", noun=noun, old=condition.say(value)), utterance)
            if new is not None:
                yield Swap(condition, new)
    for size, wordings in ((1, DROPS), (2, DOUBLE_DROPS)):
        for group in combinations(held, size):
            old, *others = (condition.say(value) for condition, value in group)
            said = {wording.format(noun=noun, old=old, other="".join(others)) for wording in wordings}
            if utterance in said:
                yield Drop(tuple(condition for condition, _ in group))
    yield from _output_changes(request, utterance)


def _output_changes(request: Request, utterance: str) -> Iterator[Change]:
    for place, projection in enumerate(request.template.projections):
        heard = _compiled(projection.say, {"n": r"\d+"}).fullmatch(utterance)
        if heard:
            yield Project(place, int(heard["n"]) if "n" in heard.groupdict() else 0)
    for wording in TURNS:
        before, _ = _around(wording, "question")
        if utterance.startswith(before):
            known = templates(request.template.database)
            yield from map(Turn, requests_heard(known, utterance.removeprefix(before)))


def _around(wording: str, place: str, **fixed: str) -> tuple[str, str]:
    """Return what stands before and after a place of `wording`, whose other places are filled."""
    before, after = wording.split(f"{{{place}}}")
    return before.format(**fixed), after.format(**fixed)


def _heard(condition: Condition, around: tuple[str, str], utterance: str) -> Value | None:
    before, after = around
    if not (utterance.startswith(before) and utterance.endswith(after)):
        return None
    heard = _alone(condition).fullmatch(utterance, len(before), len(utterance) - len(after))
    return _value(condition, heard["value"]) if heard else None


@cache
def _ambiguous(template: Template) -> tuple[re.Pattern[str], dict[str, tuple[int, ...]]]:
    return _compiled(template.ambiguous, dict.fromkeys(template.numbers, r"\d+")), {}


@cache
def _complete(template: Template) -> tuple[re.Pattern[str], dict[str, tuple[int, ...]]]:
    paths = {reading.phrase: path for path, reading in template.readings().items()}
    groups = {"reading": "|".join(map(re.escape, paths)), **dict.fromkeys(template.numbers, r"\d+")}
    return _compiled(template.question, groups), paths


def _values(conditions: tuple[Condition, ...], said: str) -> dict[str, Value] | None:
    """Return the values in a list of phrases such as ` with status A and granted in 1996`."""
    heard = _listed(conditions).fullmatch(said)
    if heard is None:
        return None
    found = heard.groupdict()
    return {c.name: _value(c, found[c.name]) for c in conditions if found[c.name] is not None}


def _value(condition: Condition, text: str) -> Value:
    for code, spoken in condition.spoken.items():
        if text == spoken:
            return code
    return int(text) if condition.is_number else text


@lru_cache(maxsize=256)
def _listed(conditions: tuple[Condition, ...]) -> re.Pattern[str]:
    """Compile the list of conditions: each at most once, in order, the first after a space."""
    return re.compile("".join(f"(?:(?:(?<!.) |, | and ){_phrase(c, c.name)})?" for c in conditions))


@cache
def _alone(condition: Condition) -> re.Pattern[str]:
    return re.compile(_phrase(condition, "value"))


def _phrase(condition: Condition, group: str) -> str:
    before, after = condition.phrase.split("{}")
    texts = condition.spoken.values()
    value = "|".join(map(re.escape, texts)) if texts else r"\d+" if condition.is_number else ".+?"
    return f"{re.escape(before)}(?P<{group}>{value}){re.escape(after)}"


@lru_cache(maxsize=1024)
def _pattern(wording: str, groups: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    """Compile a wording: its text as it stands, each place as a group; `{where}` takes what is there."""
    known = {"where": ".+?", **dict(groups)}
    texts, places = _PLACE.split(wording)[::2], _PLACE.split(wording)[1::2]
    slots = [*(f"(?P<{place}>{known[place]})" for place in places), ""]
    return re.compile("".join(re.escape(text) + slot for text, slot in zip(texts, slots, strict=True)))


def _compiled(wording: str, groups: Mapping[str, str]) -> re.Pattern[str]:
    return _pattern(wording, tuple(groups.items()))

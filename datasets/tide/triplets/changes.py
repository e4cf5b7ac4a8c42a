"""A change of mind about a request: what the user says, the edit of the tree that follows, and the request after it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from ..editing import Value, with_filter, without_filters
from .model import Condition
from .request import Request, predicate_in, spelled_as_in

SWAPS: tuple[str, ...] = (
    "Actually, take the {noun} {new} instead of those {old}.",
    "Sorry, I meant {noun} {new}, not {old}.",
    "Let me change that to {noun} {new} rather than {old}.",
)
DROPS: tuple[str, ...] = (
    "On second thought, do not limit it to {noun} {old}; keep everything else.",
    "Forget the restriction to {noun} {old}; the rest stays as it is.",
    "They need not be {noun} {old} after all; leave the rest alone.",
)
DOUBLE_DROPS: tuple[str, ...] = (
    "On second thought, limit it neither to {noun} {old} nor to {noun} {other}; keep everything else.",
    "Forget both restrictions, to {noun} {old} and to {noun} {other}; the rest stays as it is.",
)
"""The wordings of the two filter-side drifts. `{old}`, `{new}` and `{other}` are the phrases of conditions."""
TURNS: tuple[str, ...] = (
    "I do not need their number any more. Tell me instead: {question}",
    "Forget how many there are. What I want to know is this: {question}",
    "Not their number, after all. Here is what I am after: {question}",
)
"""The wordings of a change to another question about the same rows, which may leave that question ambiguous."""


@dataclass(frozen=True, slots=True)
class Swap:
    """A value-level drift: one condition gets another value."""

    condition: Condition
    new: Value

    def say(self, request: Request, wording: int) -> str:
        """Return the drift turn in one of the wordings."""
        old = self.condition.say(request.values[self.condition.name])
        wordings = SWAPS[wording % len(SWAPS)]
        return wordings.format(noun=request.template.subject.noun, old=old, new=self.condition.say(self.new))

    def after(self, request: Request) -> Request:
        """Return the request after the drift."""
        return replace(request, values={**request.values, self.condition.name: self.new})

    def apply(self, request: Request, tree: exp.Query) -> exp.Query:
        """Return the query after the drift."""
        old = predicate_in(tree, self.condition, request.values[self.condition.name])
        return with_filter(tree, old, predicate_in(tree, self.condition, self.new))


@dataclass(frozen=True, slots=True)
class Drop:
    """A constraint-level drift: one or two conditions hold no longer."""

    conditions: tuple[Condition, ...]

    def say(self, request: Request, wording: int) -> str:
        """Return the drift turn in one of the wordings."""
        old, *others = (condition.say(request.values[condition.name]) for condition in self.conditions)
        wordings = DOUBLE_DROPS if others else DROPS
        said = wordings[wording % len(wordings)]
        return said.format(noun=request.template.subject.noun, old=old, other="".join(others))

    def after(self, request: Request) -> Request:
        """Return the request after the drift."""
        dropped = {condition.name for condition in self.conditions}
        return replace(request, values={name: v for name, v in request.values.items() if name not in dropped})

    def apply(self, request: Request, tree: exp.Query) -> exp.Query:
        """Return the query after the drift."""
        values = request.values
        return without_filters(tree, *(predicate_in(tree, c, values[c.name]) for c in self.conditions))


@dataclass(frozen=True, slots=True)
class Project:
    """A projection-level drift: the template's projection at `place`, with `number` where it says one."""

    place: int
    number: int = 0

    def say(self, request: Request, _: int) -> str:
        """Return the drift turn."""
        return request.template.projections[self.place].say.format(n=self.number)

    def after(self, request: Request) -> Request:
        """Return the request after the drift: what it shows is no part of it."""
        return request

    def apply(self, request: Request, tree: exp.Query) -> exp.Query:
        """Return the query after the drift."""
        return spelled_as_in(tree, request.template.projections[self.place].apply(tree, self.number))


@dataclass(frozen=True, slots=True)
class Turn:
    """A projection-level drift to another question about the same rows; where that is ambiguous, a chain follows."""

    to: Request

    def say(self, request: Request, wording: int) -> str:
        """Return the drift turn in one of the wordings, complete unless the question has an open layer."""
        question = self.to.ambiguous_question() if self.to.open else self.to.question()
        return TURNS[wording % len(TURNS)].format(question=question)

    def after(self, request: Request) -> Request:
        """Return the request after the drift."""
        return self.to

    def apply(self, request: Request, tree: exp.Query) -> exp.Query:
        """Return the query after the drift. Raises KeyError when layers are open."""
        return self.to.tree()


Change: TypeAlias = "Swap | Drop | Project | Turn"

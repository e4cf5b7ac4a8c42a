"""What follows from what was said: a request that grows with every answer, and the query for it.

Everything is a function of the texts of the dialogue, so what was understood once is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from sqlglot import exp

from ..actions import Clarify
from ..editing import written
from ..triplets.changes import Change, Swap
from ..triplets.hearing import hear_change, hear_question
from ..triplets.library import DATABASES, templates
from ..triplets.model import Option, Path
from ..triplets.request import Request, predicate_in
from .prompt import Heard

Taken: TypeAlias = Literal["not", "whole", "added"]
"""How a change of mind is taken: not at all; with what it retracts; or only what it adds, beside what it retracts."""

_REMEMBERED: Final = 1 << 15


@dataclass(frozen=True, slots=True)
class Understood:
    """The request as far as the dialogue determines it: its question, the choices made, and the last change of mind."""

    question: str
    path: Path = ()
    turn: str = ""

    @property
    def open(self) -> str:
        """The question that the request leaves open, outermost first; empty when it is complete."""
        fork = _fork(self.question, self.path)
        return fork.ask if fork else ""

    @property
    def later(self) -> str:
        """A question that is open only once the one before it is answered, as far as there is one."""
        fork = _fork(self.question, self.path)
        return next((option.ask for option in fork.options if option.ask), "") if fork else ""

    def guessed(self) -> Understood:
        """Return the request with the first reading of everything that is open."""
        path = self.path
        while _fork(self.question, path):
            path = (*path, 0)
        return replace(self, path=path)

    def query(self, taken: Taken) -> str:
        """Return the query of the complete request, with the change of mind as it is taken."""
        return _query(self.question, self.path, self.turn if taken != "not" else "", taken == "added")


def understand(heard: Heard) -> Understood | None:
    """Return what follows from a dialogue, or None when its question is of no known kind."""
    found = _first(heard.question)
    if found is None:
        return None
    path, turn = found.path, ""
    for action, said in heard.pairs:
        if not isinstance(action, Clarify):
            turn = said
        else:
            path = _after_answer(heard.question, path, action.question, said)
    return Understood(heard.question, path, turn)


@lru_cache(_REMEMBERED)
def _first(question: str) -> Request | None:
    found = (hear_question(templates(database), question) for database in DATABASES)
    return next((request for request in found if request), None)


def _request(question: str, path: Path) -> Request:
    first = _first(question)
    assert first is not None
    return replace(first, path=path)


@lru_cache(_REMEMBERED)
def _fork(question: str, path: Path) -> Option | None:
    return _request(question, path).open


@lru_cache(_REMEMBERED)
def _after_answer(question: str, path: Path, asked: str, said: str) -> Path:
    """Return the choices after an answer; only an answer to the open question makes one."""
    request = _request(question, path)
    answered = request.answered(said) if request.open and request.open.ask == asked else None
    return answered.path if answered else path


@lru_cache(_REMEMBERED)
def _query(question: str, path: Path, turn: str, only_add: bool) -> str:
    request = _request(question, path)
    tree = request.tree()
    change = hear_change(request, turn) if turn else None
    if change is None:
        return written(tree)
    return written(_added(request, tree, change) if only_add else change.apply(request, tree))


def _added(request: Request, tree: exp.Query, change: Change) -> exp.Query:
    """Return the query with what a change adds. Only a new value can stand beside what it replaces."""
    if not (isinstance(change, Swap) and isinstance(tree, exp.Select)):
        return tree
    return tree.where(predicate_in(tree, change.condition, change.new))

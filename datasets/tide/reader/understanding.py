"""What follows from what was said: a request that grows with every answer, and the query for it.

Everything is a function of the texts of the dialogue, so what was understood once is remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeAlias

from sqlglot import exp

from ..actions import Clarify
from ..editing import written
from ..triplets import DATABASES, Option, Standing, hear_change
from ..triplets.changes import Change, Swap
from ..triplets.model import Path
from ..triplets.request import predicate_in
from .prompt import Heard

Said: TypeAlias = "tuple[tuple[str, Path], ...]"
"""What the user said of their own accord, each with the choices that they made when asked about it."""

_REMEMBERED: Final = 1 << 15


@dataclass(frozen=True, slots=True)
class Understood:
    """The request as far as the dialogue determines it: the question and every change of mind since."""

    said: Said

    @property
    def path(self) -> Path:
        """The choices made about what was said last."""
        return self.said[-1][1]

    @property
    def open(self) -> str:
        """The question that the request leaves open, outermost first; empty when it is complete."""
        fork = _fork(self.said)
        return fork.ask if fork else ""

    @property
    def later(self) -> str:
        """A question that is open only once the one before it is answered, as far as there is one."""
        fork = _fork(self.said)
        return next((option.ask for option in fork.options if option.ask), "") if fork else ""

    def guessed(self) -> Understood:
        """Return the request with the first reading of everything that is open."""
        return Understood(_guessed(self.said))

    def query(self, *, drifts: int | None = None, only_add: bool = False) -> str:
        """Return the query of the complete request, as it stands after the first so many `drifts` (None: after all).

        With `only_add` a drift adds what it adds beside what it retracts.
        """
        said = self.said if drifts is None else self.said[: drifts + 1]
        return _added(said) if only_add else _written(said)


def understand(heard: Heard) -> Understood | None:
    """Return what follows from a dialogue, or None when its question is of no known kind.

    What was open when a query was given is taken in its first reading from then on.
    """
    said: Said = ((heard.question, ()),)
    if _standing(said) is None:
        return None
    for action, answer in heard.pairs:
        if isinstance(action, Clarify):
            said = _after_answer(said, action.question, answer)
        else:
            said = (*_guessed(said), (answer, ()))
    return Understood(said)


@lru_cache(_REMEMBERED)
def _standing(said: Said) -> Standing | None:
    """Return what a dialogue has come to; a change of mind that is not understood changes nothing."""
    *before, (text, path) = said
    if before:
        last = _standing(tuple(before))
        standing = last and (last.turned(text) or last)
    else:
        begun = (Standing.begun(database, text) for database in DATABASES)
        standing = next((each for each in begun if each), None)
    if standing is None or not path:
        return standing
    return Standing.of(replace(standing.request, path=path))


@lru_cache(_REMEMBERED)
def _fork(said: Said) -> Option | None:
    standing = _standing(said)
    return standing and standing.request.open


def _guessed(said: Said) -> Said:
    while _fork(said):
        said = (*said[:-1], (said[-1][0], (*said[-1][1], 0)))
    return said


@lru_cache(_REMEMBERED)
def _after_answer(said: Said, asked: str, answer: str) -> Said:
    """Return what was said with the choice that an answer makes; only one to the open question makes one."""
    standing = _standing(said)
    if standing is None or not standing.request.open or standing.request.open.ask != asked:
        return said
    answered = standing.answered(answer)
    return (*said[:-1], (said[-1][0], answered.request.path)) if answered else said


@lru_cache(_REMEMBERED)
def _written(said: Said) -> str:
    standing = _standing(said)
    assert standing is not None
    assert standing.tree is not None
    return written(standing.tree)


@lru_cache(_REMEMBERED)
def _added(said: Said) -> str:
    """Return the first query with what every change of mind adds. Only a new value stands beside what it replaces."""
    first = _standing(said[:1])
    assert first is not None
    tree = first.tree
    assert tree is not None
    for change in _changes(said):
        if isinstance(change, Swap) and isinstance(tree, exp.Select):
            tree = tree.where(predicate_in(tree, change.condition, change.new))
    return written(tree)


def _changes(said: Said) -> Iterator[Change | None]:
    """Yield every change of mind, None for one that is not understood."""
    for place in range(1, len(said)):
        standing = _standing(said[:place])
        assert standing is not None
        yield hear_change(standing.request, said[place][0])

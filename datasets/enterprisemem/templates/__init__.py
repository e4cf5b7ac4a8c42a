"""Every kind of question, ours and the released file's, with the SQL that answers it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from . import bird, northwind, sec_edgar
from .model import KEYS, LOOKUPS, Key, Template, first_match, learn

if TYPE_CHECKING:  # whoever only listens, as a simulated reader does, loads nothing that could hold gold
    from ..sessions import Session, Value

__all__ = ["KEYS", "LOOKUPS", "TEMPLATES", "Key", "Template", "derive", "learn", "match"]

TEMPLATES: Mapping[str, tuple[Template, ...]] = {
    "northwind": (*northwind.OURS, *northwind.RELEASED),
    "sec_edgar": (*sec_edgar.OURS, *sec_edgar.RELEASED),
    "bird": (*bird.OURS, *bird.RELEASED),
}


def match(source: str, question: str) -> tuple[Template, dict[str, Value]] | None:
    """Return the template that `question` follows and the values that it says, or None for another kind of question."""
    found = _match(source, question)
    return found and (found[0], dict(found[1]))


@lru_cache(maxsize=4096)
def _match(source: str, question: str) -> tuple[Template, dict[str, Value]] | None:
    return first_match(TEMPLATES.get(source, ()), question)


def derive(session: Session) -> Iterator[str | None]:
    """Yield for each turn the SQL that follows from its question and the state of the turns before it.

    None where the question is of no known kind or needs a value that no earlier turn said. Gold that differs from
    this in its result asks for something that the dialogue does not say.
    """
    known: dict[str, Value] = {}
    for turn in session.turns:
        found = match(session.source, turn.question)
        if found is None:
            yield None
        else:
            template, said = found
            known = learn(known, said)
            yield None if template.missing(known) else template.fill(known)
        known = learn(known, turn.state_updates)

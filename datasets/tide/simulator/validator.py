"""Screens what the simulated user says (Appendix E's third adaptation).

An answer does not do when it is empty or long, holds a piece of SQL, names a table or column as only a database would
spell it, or tells a value of the gold query that nobody asked about. Whatever the analyst's question, the user's own
turns or the annotation hold is in scope, SQL excepted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from .annotation import annotation
from .situation import Situation, Target

LONGEST: Final = 600
"""Characters: a user answers in a sentence or two."""

_SHORTEST_VALUE: Final = 3
"""Shorter texts (codes such as `A`) and single digits occur in any sentence."""

_SQL: Final = re.compile(
    r"```|`[^`]+`"
    r"|\b(?:SELECT|FROM|WHERE|JOIN|GROUP BY|ORDER BY|HAVING|LIMIT|OFFSET|COUNT|SUM|AVG|STRFTIME|CAST|NULL)\b"
    r"|\b(?i:count|sum|avg|min|max|strftime|substr|cast|coalesce|ifnull|iif)\("
    r"|\b(?i:select)\b.{1,200}\b(?i:from)\b.{1,200}\b(?i:where|join|group by|order by)\b"
    r"|\b\w+\s*(?:<>|!=|>=|<=|[=<>])\s*(?:'|\d|\w+\.\w)",
    re.DOTALL,
)
_WORD: Final = re.compile(r"\w+")
_QUALIFIED: Final = re.compile(r"\b[A-Za-z_]\w+\.[a-z_]\w+\b")


def problem_with(text: str, situation: Situation, target: Target, identifiers: Collection[str]) -> str | None:
    """Return what is wrong with an answer in words that follow `it`, or None when it may be said."""
    if not text.strip():
        return "is empty"
    if len(text) > LONGEST:
        return "is too long"
    if found := _SQL.search(text):
        return f"holds SQL ({found[0][:40]!r})"
    scope = _scope(situation, target)
    if name := next(_foreign_names(text, scope, identifiers), None):
        return f"names {name!r} as the database does"
    if value := next(_foreign_values(text, scope, situation), None):
        return f"tells {value!r}, which was not asked about"
    return None


def distinctive(names: Iterable[str]) -> frozenset[str]:
    """Return those names of tables and columns that no user would say: `district_id`, `A11`, `CompanyName`.

    A name that is a plain word (`amount`, `Country`) may be said; capitals alone do not make it distinctive.
    """
    return frozenset(name for name in names if re.search(r"_|\d|[a-z][A-Z]", name) and " " not in name)


def _scope(situation: Situation, target: Target) -> str:
    said = (turn.text for turn in situation.conversation if turn.speaker == "user")
    return "\n".join((*said, situation.question, annotation(situation, target) or "")).lower()


def _foreign_names(text: str, scope: str, identifiers: Collection[str]) -> Iterator[str]:
    known = {name.lower() for name in identifiers}
    allowed = set(_WORD.findall(scope))
    for word in _WORD.findall(text):
        if word.lower() in known and word.lower() not in allowed:
            yield word
    yield from _QUALIFIED.findall(text)


def _foreign_values(text: str, scope: str, situation: Situation) -> Iterator[str]:
    for node in situation.nodes:
        for value in map(_bare, node.unit.literals):
            telling = len(value) >= (2 if value.replace(".", "", 1).isdigit() else _SHORTEST_VALUE)
            if telling and _holds(text.lower(), value.lower()) and not _holds(scope, value.lower()):
                yield value


def _bare(literal: str) -> str:
    """Return a literal without its quotes."""
    return literal[1:-1] if literal.startswith("'") else literal


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None

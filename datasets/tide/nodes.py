"""The atomic nodes of a gold query: what a user simulator may be asked about, one at a time (Appendix E).

A node is a unit of commitment. Its label is made of the path and the structural form, so it names the same place
before and after a value-level drift, and its words are what a user would say of it: the ones that the sample gives,
or else plain words made from the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import Token, TokenType

from .commitments import commitments
from .parsing import tokenize
from .samples import Stage
from .schema import Schema
from .units import Clause, Commitment, keyword


@dataclass(frozen=True, slots=True)
class Node:
    """One atomic node: `sql` is the unit with its values (no simulator may say it), `words` is how a user puts it."""

    label: str
    unit: Commitment
    words: str

    @property
    def sql(self) -> str:
        """The unit as SQL, with the clause it stands in."""
        return f"{keyword(self.unit.clause)} {self.unit.value}"


def atomic_nodes(sql: str, schema: Schema | None = None, words: Mapping[str, str] | None = None) -> tuple[Node, ...]:
    """Return the nodes of the query `sql` by label. Raises UnparsableSql when it is not one query."""
    given = words or {}
    return tuple(Node(name, unit, given.get(name) or in_words(unit)) for name, unit in _labelled(sql, schema))


def nodes_of(stage: Stage, schema: Schema | None = None) -> tuple[Node, ...]:
    """Return the nodes of a stage's gold, in the user's words where the stage gives them."""
    return atomic_nodes(stage.sql, schema, stage.nodes)


def labels(sql: str, schema: Schema | None = None) -> dict[Commitment, str]:
    """Return the label of each commitment of `sql`."""
    return {unit: name for name, unit in _labelled(sql, schema)}


def _labelled(sql: str, schema: Schema | None) -> Iterator[tuple[str, Commitment]]:
    """Yield label and unit in the order of labels; units of one form in one place are numbered by their values."""
    taken: Counter[str] = Counter()
    for unit in sorted(commitments(sql, schema), key=lambda unit: (unit.path, unit.clause, unit.structure, unit.value)):
        name = " » ".join((*unit.path, f"{keyword(unit.clause)} {unit.structure}"))
        taken[name] += 1
        yield (name if taken[name] == 1 else f"{name} [{taken[name]}]"), unit


_LEADS: Mapping[Clause, str] = {
    "select": "show {}",
    "where": "only where {}",
    "group_by": "one row for each {}",
    "having": "only groups where {}",
    "order_by": "sorted by {}",
    "limit": "at most {} rows",
    "offset": "skipping the first {} rows",
}
_SAID: Mapping[str, str] = {
    "=": "is", "<>": "is not", "!=": "is not", ">": "is more than", "<": "is less than", ">=": "is at least",
    "<=": "is at most", "||": "joined with", "*": "times", "/": "divided by", "-": "minus", "+": "plus",
    "DESC": ", highest first", "ASC": ", lowest first", "IN": "is one of", "LIKE": "looks like",
    "BETWEEN": "is between", "COUNT": "the number of", "SUM": "the total", "AVG": "the average", "MAX": "the highest",
    "MIN": "the lowest", "DISTINCT": "different", "STRFTIME": "the date part", "WHEN": "if", "CASE": "", "END": "",
    "CAST": "", "AS": "", "REAL": "", "SELECT": "what another lookup gives",
}  # fmt: skip
_SILENT = frozenset({TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.DOT})


def in_words(unit: Commitment) -> str:
    """Return plain words for a unit, without the syntax of SQL and with names spelled as words.

    They are plain rather than pretty, and keep the names of columns; a sample that cares gives its own words.
    """
    tokens = tokenize(unit.value)
    if unit.clause == "select" and [token.text for token in tokens] == ["*"]:
        return "show everything"
    said = " ".join(" ".join(_spoken(tokens, place) for place in range(len(tokens))).split()).replace(" ,", ",")
    return ("inside the lookup, " if unit.path else "") + _LEADS[unit.clause].format(said)


def _spoken(tokens: list[Token], place: int) -> str:
    token = tokens[place]
    if token.token_type is TokenType.STRING:
        return f"'{token.text}'"
    if token.token_type in _SILENT:
        return ""
    if token.token_type is TokenType.SELECT:
        return _SAID["SELECT"]
    if place + 1 < len(tokens) and tokens[place + 1].token_type is TokenType.DOT:
        return ""  # the table before its column
    if token.token_type is TokenType.STAR and (place == 0 or tokens[place - 1].token_type is TokenType.L_PAREN):
        return "rows"
    upper = token.text.upper()
    return _SAID.get(upper, token.text.replace("_", " ").lower())

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


def atomic_nodes(
    sql: str,
    schema: Schema | None = None,
    words: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> tuple[Node, ...]:
    """Return the nodes of the query `sql` by label. Raises UnparsableSql when it is not one query.

    `words` puts nodes into words by label, `names` columns by `table.column`.
    """
    given = words or {}
    return tuple(Node(name, unit, given.get(name) or in_words(unit, names)) for name, unit in _labelled(sql, schema))


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
    "group_by": "grouped by {}",
    "having": "only groups where {}",
    "order_by": "sorted by {}",
    "limit": "at most {} rows",
    "offset": "skipping the first {} rows",
}
_SAID: Mapping[str, str] = {
    "=": "is", "<>": "is not", "!=": "is not", ">": "is more than", "<": "is less than", ">=": "is at least",
    "<=": "is at most", "||": "joined with", "*": "times", "/": "divided by", "-": "minus", "+": "plus",
    "DESC": ", highest first", "ASC": ", lowest first", "IN": "is one of", "LIKE": "looks like",
    "BETWEEN": "is between", "COUNT": "the number of", "SUM": "the total of", "AVG": "the average of",
    "MAX": "the highest of", "MIN": "the lowest of", "ROUND": "rounded", "DISTINCT": "different",
    "STRFTIME": "the date part", "JULIANDAY": "the date of", "ABS": "the distance of", "NULL": "unknown",
    "WHEN": "if", "CASE": "", "THEN": ":", "ELSE": "or else", "END": "", "CAST": "", "AS": "", "REAL": "",
    "SELECT": "what another lookup gives",
}  # fmt: skip
_SILENT = frozenset({TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.DOT})


def in_words(unit: Commitment, names: Mapping[str, str] | None = None) -> str:
    """Return plain words for a unit, without the syntax of SQL.

    Columns are called what `names` says of them by `table.column`, or else by their own names spelled as words. A
    sample that wants more than plain words gives its own.
    """
    tokens = tokenize(unit.value)
    if unit.clause == "select" and [token.text for token in tokens] == ["*"]:
        return "show everything"
    said = " ".join(" ".join(_spoken(tokens, names or {})).split()).replace(" ,", ",").replace(" :", ":")
    return ("inside the lookup, " if unit.path else "") + _LEADS[unit.clause].format(said)


def _spoken(tokens: list[Token], names: Mapping[str, str]) -> Iterator[str]:
    for place, token in enumerate(tokens):
        upper = token.text.upper()
        if token.token_type is TokenType.STRING:
            yield f"'{token.text}'"
        elif token.token_type is TokenType.SELECT:
            yield _SAID["SELECT"]
        elif token.token_type is TokenType.STAR and not _is_operand(tokens, place - 1):
            yield "rows"
        elif token.token_type in _SILENT or _is_dot(tokens, place + 1):  # the table before its column
            yield ""
        elif _is_dot(tokens, place - 1) and (name := names.get(f"{tokens[place - 2].text}.{token.text}")):
            yield name
        else:
            yield _SAID.get(upper, token.text.replace("_", " ").lower())


def _is_dot(tokens: list[Token], place: int) -> bool:
    return 0 <= place < len(tokens) and tokens[place].token_type is TokenType.DOT


def _is_operand(tokens: list[Token], place: int) -> bool:
    return place >= 0 and tokens[place].token_type is not TokenType.L_PAREN

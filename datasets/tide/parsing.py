"""SQL text to one sqlglot tree, or a plain statement that it is not one query.

What a model wrote may be of any length, and sqlglot's time grows faster than its input: with the square of the length,
and by a factor with each JOIN that waits for its ON. So both are bounded, and what is beyond a bound is not parsed.
"""

from __future__ import annotations

from typing import Final

from sqlglot import Dialect, Token, TokenType, exp
from sqlglot.errors import ParseError, SqlglotError

SQLITE = Dialect.get_or_raise("sqlite")
_OPENERS = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.VALUES, TokenType.L_PAREN})

LONGEST: Final = 20_000
"""Characters of the longest text that is read: a dozen times BIRD's longest gold query."""

OPEN_JOINS: Final = 12
"""The most joins that may wait for their ON or USING at once; CROSS and NATURAL ones wait for nothing."""


class UnparsableSql(ValueError):
    """The text is not one SELECT query, so nothing may be said about what it commits to."""

    def __init__(self, sql: str, why: str) -> None:
        super().__init__(f"the SQL does not parse: {why}")
        self.sql = sql
        self.why = why


def tokenize(sql: str) -> list[Token]:
    """Return the tokens of `sql` without comments, or raise UnparsableSql, also for one that is longer than LONGEST."""
    if len(sql) > LONGEST:
        raise UnparsableSql(sql, f"it is longer than {LONGEST:,} characters")
    try:
        return SQLITE.tokenize(sql)
    except SqlglotError as error:
        raise UnparsableSql(sql, str(error)) from error


def parse(sql: str) -> exp.Query:
    """Return the tree of the one query in `sql`, or raise UnparsableSql.

    sqlglot reads almost any words as an aliased name and hands statements that it does not know back unread; so
    the first token must open a query and the result must be one.
    """
    tokens = tokenize(sql)
    if not tokens or tokens[0].token_type not in _OPENERS:
        raise UnparsableSql(sql, "it does not begin with SELECT or WITH" if tokens else "it is empty")
    if _open_joins(tokens) > OPEN_JOINS:
        raise UnparsableSql(sql, f"it has more than {OPEN_JOINS} joins without ON or USING")
    try:
        trees = [tree for tree in SQLITE.parser().parse(tokens, sql) if tree and not isinstance(tree, exp.Semicolon)]
    except ParseError as error:
        raise UnparsableSql(sql, _first_error(error)) from error
    except RecursionError as error:
        raise UnparsableSql(sql, "it is nested too deeply") from error
    if len(trees) != 1:
        raise UnparsableSql(sql, "it holds several statements")
    if not isinstance(trees[0], exp.Query):
        raise UnparsableSql(sql, "it is not a SELECT query")
    return trees[0]


def _open_joins(tokens: list[Token]) -> int:
    """Return how many joins wait for a condition at once, at most; those that never get one wait to the end."""
    waiting = most = 0
    before = None
    for kind in (token.token_type for token in tokens):
        if kind is TokenType.JOIN and before not in (TokenType.CROSS, TokenType.NATURAL):
            waiting += 1
        elif kind in (TokenType.ON, TokenType.USING):
            waiting = max(0, waiting - 1)
        most, before = max(most, waiting), kind
    return most


def _first_error(error: ParseError) -> str:
    """Return sqlglot's first complaint in one line, without the excerpt that it underlines for terminals."""
    if not error.errors:
        return str(error)
    first = error.errors[0]
    return f"{first['description']} (line {first['line']}, column {first['col']})"

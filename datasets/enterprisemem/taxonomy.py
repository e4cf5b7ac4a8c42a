"""The six categories of a turn's outcome (section 5.7, Table 5), and what stands outside them.

The order decides, first match wins: empty, preamble, syntax, runtime, wrong_result, correct. They are exclusive and
exhaustive for answers that came back whole. Answers cut at the token limit and questions that the provider refused are
the model's own and score 0, but belong to none of the six; a provider's fault is no answer at all and is not scored.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from ...adapters.base import Answer
from ...engine.sql.outcome import Outcome

Category = Literal["empty", "preamble", "syntax", "runtime", "wrong_result", "correct", "cut", "refused"]
SIX: Final[tuple[Category, ...]] = ("correct", "wrong_result", "runtime", "syntax", "preamble", "empty")
OUTSIDE: Final[tuple[Category, ...]] = ("cut", "refused")

_COMMENTS = re.compile(r"(?:\s++|--[^\n]*+\n?|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_STATEMENTS: Final = frozenset(
    "select with values insert update delete replace create drop alter explain pragma attach detach begin commit end "
    "rollback savepoint release vacuum analyze reindex".split()
)


def before_execution(answer: Answer, sql: str) -> Category | None:
    """Return the category of an answer that is not to be executed, or None when `sql` is to be run."""
    if answer.finish == "length":
        return "cut"
    if answer.finish == "refused":
        return "refused"
    rest = _without_comments(sql)
    if not rest:
        return "empty"
    return None if _starts_like_sql(rest) else "preamble"


def after_execution(outcome: Outcome, correct: bool) -> Category:
    """Return the category of a statement that was run; `correct` is the headline comparison's word."""
    if outcome.status == "ok":
        return "correct" if correct else "wrong_result"
    return "syntax" if outcome.status == "syntax" else "runtime"


def starts_like_sql(text: str) -> bool:
    """Whether the first token of `text` (after comments) begins a statement."""
    return _starts_like_sql(_without_comments(text))


def _without_comments(text: str) -> str:
    """Return `text` from its first token on; the time is linear, whatever it begins with."""
    comments = _COMMENTS.match(text)
    return text[comments.end() if comments else 0 :]


def _starts_like_sql(rest: str) -> bool:
    word = _WORD.match(rest.lstrip("(").lstrip())
    return word is not None and word[0].lower() in _STATEMENTS

"""The mistakes of a simulated model: what it does to the answer that its reader wrote.

The first seven are shapes that any text can take; what a *wrong* answer is depends on the subject, so a reader may say
so itself (`reader.Misreader`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

from ..base import Answer
from .config import Mistake
from .failure import Failure

_PREAMBLES = (
    "Here is the query you asked for:",
    "Based on the conversation so far, I would run the following.",
    "To answer this, we first need to look at the tables involved.",
)
_QUERY = re.compile(r"\s*(select|with)\b", re.IGNORECASE)


def wrong_by_rote(text: str) -> str:
    """Return a wrong answer to anything: a query loses its rows, other text the order of its words."""
    if _QUERY.match(text):
        return f"SELECT * FROM (\n{_statement(text)}\n) WHERE 0"
    return " ".join(reversed(text.split()))


def make(mistake: Mistake, answer: Answer, chance: random.Random) -> Answer:
    """Return `answer` as the mistake leaves it, or raise the Failure that takes its place.

    `wrong` and `unmetered` are not made here: the first needs the reader, the second the count of tokens.
    """
    change = _CHANGES.get(mistake)
    return change(answer, chance) if change else answer


def _preamble(answer: Answer, chance: random.Random) -> Answer:
    return replace(answer, text=f"{chance.choice(_PREAMBLES)}\n\n{answer.text}")


def _fence(answer: Answer, _: random.Random) -> Answer:
    return replace(answer, text=f"```sql\n{answer.text}\n```")


def _syntax(answer: Answer, _: random.Random) -> Answer:
    # A missing last character breaks JSON; two keywords on a line of their own, which no comment swallows, break SQL.
    return replace(answer, text=f"{_statement(answer.text)[:-1]}\nFROM FROM")


def _empty(answer: Answer, _: random.Random) -> Answer:
    return replace(answer, text="")


def _cut(answer: Answer, chance: random.Random) -> Answer:
    return replace(answer, text=answer.text[: int(len(answer.text) * chance.random())], finish="length")


def _refuse(answer: Answer, _: random.Random) -> Answer:
    return replace(answer, text="I'm sorry, but I can't help with that request.", finish="refused")


def _filter(_: Answer, __: random.Random) -> Answer:
    raise Failure("content_filter", "The request was rejected by the content filter. Please change the prompt.")


def _substitute(answer: Answer, _: random.Random) -> Answer:
    return replace(answer, model=f"{answer.model}-substitute")


_CHANGES: dict[Mistake, Callable[[Answer, random.Random], Answer]] = {
    "preamble": _preamble,
    "fence": _fence,
    "syntax": _syntax,
    "empty": _empty,
    "cut": _cut,
    "refuse": _refuse,
    "filter": _filter,
    "substitute": _substitute,
}


def _statement(text: str) -> str:
    return text.strip().rstrip(";").rstrip()

"""Where a reader takes the values from that a question leaves to the dialogue.

In this order; within a place, the newest value of a key:

1. the question itself;
2. the resolved structured context, which the prompt calls authoritative;
3. what the shown turns said: their questions and their state;
4. what the SQL of the shown turns holds. It is the model's own writing and may be wrong, but it carries on what the
   window has lost: a customer named eight turns ago stands in every statement since.

Retrieved episodes have no place in it. Most come from other sessions, an episode does not say whose it is, and one of
this very session that no shown turn repeats looks exactly like a stranger's. So a careful reader takes nothing from
them; it loses nothing by that, since every turn's SQL carries its values on. `Trust` is how much less careful another
reader is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from ..templates import learn, match
from .prompt import Prompt, Shown

if TYPE_CHECKING:
    from ..sessions import Value

Trust = Literal["never", "missing", "always"]
"""How far episodes are believed: not at all, where nothing else says a value, or over all but the question itself."""

GUESSES: Final[Mapping[str, Value]] = {
    "customer_id": "ALFKI",
    "focus_year": "1997",
    "ticker": "IBM",
    "metric": "revenue",
    "older_year": 2022,
    "newer_year": 2023,
    "region": "Praha",
    "loan_status": "A",
}
"""What comes to mind where nothing is known: examples from textbooks, about which no session is."""


def known(prompt: Prompt, said: Mapping[str, Value], *, sql: bool, episodes: Trust) -> dict[str, Value]:
    """Return all values that `prompt` gives, with those that its question `said`.

    `sql` is whether the SQL of shown turns is read, `episodes` how far retrieved episodes are trusted.
    """
    spoken, written = _learned(prompt.source, prompt.recent)
    sure = learn(learn(written, spoken) if sql else spoken, prompt.resolved)
    if episodes != "never":
        spoken, written = _learned(prompt.source, reversed(prompt.episodes))
        theirs = learn(written, spoken)
        sure = learn(theirs, sure) if episodes == "missing" else learn(sure, theirs)
    return learn(sure, said)


def _learned(source: str, turns: Iterable[Shown]) -> tuple[dict[str, Value], dict[str, Value]]:
    """Return what `turns` said and what their SQL holds; the last turn goes before the others.

    A turn whose question is of no known kind (an episode of another source, say) tells nothing.
    """
    spoken: dict[str, Value] = {}
    written: dict[str, Value] = {}
    for turn in turns:
        if found := match(source, turn.question):
            template, said = found
            spoken = learn(spoken, {**said, **turn.state})
            written = learn(written, template.values_in(turn.sql) or {})
    return spoken, written

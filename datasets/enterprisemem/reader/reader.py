"""A simulated model: it recognises the question, finds the values in the prompt, and writes the SQL that follows."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from ....adapters.base import Json, Message
from ..templates import match
from .knowledge import GUESSES, Trust, known
from .misreading import misname, misread
from .prompt import read

Rate: TypeAlias = Annotated[float, Meta(ge=0, le=1)]

LOST: Final = "I am not sure what this question asks for."
"""The answer to a question of no known kind, and to any other prompt."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What makes a reader. The default one is perfect: it is right wherever the prompt holds what the answer needs.

    Rates are drawn per prompt, so the same prompt always gets the same answer.
    """

    recalls: Rate = 1.0
    """How often it takes values from the SQL of shown turns; otherwise only from what they said."""
    episodes: Trust = "never"
    """How far it trusts retrieved episodes."""
    swayed: Rate = 1.0
    """How often it gives them that trust; otherwise, none."""
    asks: Rate = 0.1
    """How often it asks back in prose where values are missing, no earlier turn shows the form of an answer and the
    question itself says nothing (section 6.4 of the paper); otherwise it guesses."""
    slips: Rate = 0.0
    """How often it gets the name of a column wrong, unless the semantic hint names it."""
    errors: Rate | dict[str, Rate] = 0.0
    """How often it misreads the question, in all or by source."""

    def error_rate(self, source: str) -> float:
        """Return how often questions on `source` are misread."""
        return self.errors.get(source, 0.0) if isinstance(self.errors, dict) else self.errors


class PromptReader:
    """A reader of EnterpriseMem-Bench's prompts: a `Reader` and `Misreader` of the simulated provider."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return SQL, or prose where the question is not understood or too much is missing."""
        recalls, sways, asks, slips, errs = (chance.random() for _ in range(5))
        settings = self.settings
        prompt = read(messages[-1].content)
        found = prompt and match(prompt.source, prompt.question)
        if not (prompt and found):
            return LOST
        template, said = found
        trust = settings.episodes if sways < settings.swayed else "never"
        values = known(prompt, said, sql=recalls < settings.recalls, episodes=trust)
        gaps = template.missing(values)
        if gaps and not prompt.recent and not said and asks < settings.asks:
            return _question_about(gaps)
        sql = template.fill(values | {key: GUESSES[key] for key in gaps})
        if slips < settings.slips:
            sql = misname(sql, prompt.hints, chance)
        return misread(sql, chance) if errs < settings.error_rate(prompt.source) else sql

    def misread(
        self, answer: str, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random
    ) -> str:
        """Return SQL that answers another question; prose, which answers none, stays as it is."""
        return misread(answer, chance) if answer.startswith("SELECT ") else answer


def _question_about(keys: Sequence[str]) -> str:
    wanted = " and ".join(key.replace("_", " ") for key in keys)
    return f"Could you tell me which {wanted} you mean? I cannot write this query without it."

"""A simulated agent: it understands what was said, asks for what is open, and writes the query that follows.

Its settings make it worse in one way each, so that each of the metrics can be seen to move and the others to stay.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from ....adapters.base import Json, Message
from ..actions import Action, Clarify, Malformed, Query, read_action
from .prompt import Heard, read
from .understanding import Understood, understand

Asks = Literal["open", "never", "first", "first_two", "second_first", "always"]
Drifts = Literal["follows", "forgets", "forgets_later", "keeps", "asks", "abstains", "unparsable"]
Malforms = Literal["never", "once", "always"]

LOST: Final = "I am not sure what this is about."
"""The answer to any other prompt."""

PROSE: Final = "Let me think about what you need before I answer."
"""A malformed answer."""

MORE: Final = "Is there anything else that I ought to know?"
STILL: Final = "Does the rest of your request remain as it was?"
NO_QUERY: Final = "SELECT FROM WHERE"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What makes an agent. The default one is perfect.

    `asks`: for what is `open`; `never`, and guesses the first reading; the `first` layer only, or the `first_two`; a
    later layer before the first (`second_first`); or `always` and without end. `drifts`: what it makes of a change of
    mind. It `follows`; it `forgets`, and repeats its query, or does so from the second change on (`forgets_later`); it
    `keeps` what was retracted beside what is new; it `asks` once more first; it `abstains`; or its query is
    `unparsable`. `malformed`: whether each answer is prose at `once`, or `always`.
    """

    asks: Asks = "open"
    drifts: Drifts = "follows"
    malformed: Malforms = "never"


class Agent:
    """A reader of the agent's prompts: a `Reader` and `Misreader` of the simulated provider."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return the next action as JSON, or prose where the agent is one that gives none."""
        heard = read(messages)
        understood = heard and understand(heard)
        if not (heard and understood):
            return LOST
        if self.settings.malformed == "always" or (self.settings.malformed == "once" and not heard.again):
            return PROSE
        action = self._action(heard, understood)
        return action.to_json() if action else PROSE

    def misread(
        self, answer: str, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random
    ) -> str:
        """Return a query without its rows; a question stays as it is."""
        try:
            action = read_action(answer)
        except Malformed:
            return answer
        if isinstance(action, Clarify):
            return answer
        return json.dumps({"action": "sql", "sql": f"SELECT * FROM ({action.sql}) WHERE 0"})

    def _action(self, heard: Heard, understood: Understood) -> Action | None:
        """Return what the agent does now; None when it gives no action."""
        match self.settings.drifts:
            case "abstains" if heard.drifts:
                return None
            case "unparsable" if heard.drifts:
                return Query(NO_QUERY)
            case "forgets" if heard.drifts:
                return Query(understood.query(drifts=0))
            case "forgets_later" if heard.drifts > 1:
                return Query(understood.query(drifts=1))
            case "asks" if heard.drifts and not heard.asked:
                return Clarify(STILL)
            case drifts:
                question = self._question(heard, understood)
                if question:
                    return Clarify(question)
                return Query(understood.guessed().query(only_add=drifts == "keeps"))

    def _question(self, heard: Heard, understood: Understood) -> str:
        """Return what to ask now; empty when there is nothing, or when it was asked to no avail."""
        known = {action.question for action, _ in heard.pairs if isinstance(action, Clarify)}
        question = self._wish(heard, understood)
        return question if question == MORE or question not in known else ""

    def _wish(self, heard: Heard, understood: Understood) -> str:
        match self.settings.asks:
            case "never":
                return ""
            case "open":
                return understood.open
            case "first":
                return "" if understood.path else understood.open
            case "first_two":
                return "" if len(understood.path) > 1 else understood.open
            case "second_first":
                return self._second_first(heard, understood)
            case "always":
                return understood.open or MORE

    def _second_first(self, heard: Heard, understood: Understood) -> str:
        """A later layer before the first; where that is resolved from the outset, the open one."""
        if understood.path:
            return understood.open if heard.asked == 1 else ""
        return understood.open if heard.asked else understood.later

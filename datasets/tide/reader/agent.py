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

Asks = Literal["open", "never", "first", "second_first", "always"]
Drifts = Literal["follows", "forgets", "keeps", "asks", "abstains", "unparsable"]
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

    `asks`: for what is `open`; `never`, and guesses the first reading; the `first` layer only; a later layer before the
    first (`second_first`); or `always` and without end. `drifts`: what it makes of a change of mind. It `follows`; it
    `forgets`, and repeats its query; it `keeps` what was retracted beside what is new; it `asks` once more first; it
    `abstains`; or its query is `unparsable`. `malformed`: whether each answer is prose at `once`, or `always`.
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
        action = self._after_drift(heard, understood) if heard.drifted else self._before_drift(heard, understood)
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

    def _before_drift(self, heard: Heard, understood: Understood) -> Action:
        asked = {action.question for action, _ in heard.pairs if isinstance(action, Clarify)}
        question = self._question(heard, understood)
        if question and (question not in asked or question == MORE):
            return Clarify(question)
        return Query(understood.guessed().query("not"))

    def _question(self, heard: Heard, understood: Understood) -> str:
        """Return what to ask now; empty when there is nothing."""
        begun = bool(understood.path)
        match self.settings.asks:
            case "never":
                return ""
            case "open":
                return understood.open
            case "first":
                return "" if begun else understood.open
            case "second_first":
                return self._second_first(heard, understood, begun)
            case "always":
                return understood.open or MORE

    def _second_first(self, heard: Heard, understood: Understood, begun: bool) -> str:
        """A later layer before the first; where that is resolved from the outset, the open one."""
        if begun:
            return understood.open if len(heard.pairs) == 1 else ""
        return understood.open if heard.pairs else understood.later

    def _after_drift(self, heard: Heard, understood: Understood) -> Action | None:
        complete = understood.guessed()
        match self.settings.drifts:
            case "follows":
                return Query(complete.query("whole"))
            case "forgets":
                return Query(complete.query("not"))
            case "keeps":
                return Query(complete.query("added"))
            case "asks":
                last, _ = heard.pairs[-1]
                return Clarify(STILL) if isinstance(last, Query) else Query(complete.query("whole"))
            case "abstains":
                return None
            case "unparsable":
                return Query(NO_QUERY)

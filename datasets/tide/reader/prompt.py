"""What an agent's prompt says, read back from its messages: the other side of `dialogue`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ....adapters.base import Message
from ..actions import Action, Malformed, Query, read_action
from ..words import words

_LEAD: Final = words().agent.system.strip().partition("{schema}")[0]


@dataclass(frozen=True, slots=True)
class Heard:
    """A dialogue as an agent has it: the user's question, then pairs of own action and what the user said to it.

    `again` says that the last answer was malformed and is asked for once more.
    """

    question: str
    pairs: tuple[tuple[Action, str], ...]
    again: bool

    @property
    def drifts(self) -> int:
        """How often the user has spoken after a query."""
        return sum(isinstance(action, Query) for action, _ in self.pairs)

    @property
    def asked(self) -> int:
        """How many questions were asked since the user last spoke of their own accord."""
        kinds = [isinstance(action, Query) for action, _ in reversed(self.pairs)]
        return (*kinds, True).index(True)


def read(messages: Sequence[Message]) -> Heard | None:
    """Return what the messages say, or None when they are no prompt for an agent of this benchmark."""
    if len(messages) < 2 or messages[0].role != "system" or not messages[0].content.startswith(_LEAD):
        return None
    turns = messages[1:]
    again = turns[-1].content == words().agent.note.strip()
    if again:
        turns = turns[:-2]
    try:
        actions = [read_action(turn.content) for turn in turns[1::2]]
    except Malformed:
        return None
    said = [turn.content for turn in turns[2::2]]
    return Heard(turns[0].content, tuple(zip(actions, said, strict=True)), again)

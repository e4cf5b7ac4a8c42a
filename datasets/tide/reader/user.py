"""A simulated model that plays the user: it applies the rules of `simulator.rules` to what its prompt says."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Final

from ....adapters.base import Json, Message
from ..nodes import Node
from ..samples import Layer
from ..simulator.model import NONE
from ..simulator.rules import route
from ..simulator.situation import Situation
from ..units import Commitment
from ..words import words

LOST: Final = "I do not know what this is about."

_DETAIL: Final = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_OPENINGS: Final = {"at most": "limit", "sorted by": "order_by", "one row for": "group_by", "show": "select"}
"""How the words of a detail begin for each clause (`nodes.in_words`); all others are filters."""


class UserReader:
    """A reader of the simulator's two prompts: a `Reader` of the simulated provider."""

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return the router's decision as JSON, or the answer that stands under "What to say"."""
        phrases = words()
        if not messages or messages[0].role != "system":
            return LOST
        sections = _sections(next((m.content for m in messages if m.role == "user"), ""))
        if messages[0].content == phrases.router.system.strip():
            return _decision(sections)
        if messages[0].content == phrases.generator.system.strip():
            return sections.get(phrases.headings.say, LOST)
        return LOST


def _decision(sections: Mapping[str, str]) -> str:
    headings = words().headings
    details = dict(_DETAIL.findall(sections.get(headings.details, "")))
    situation = Situation(
        question=sections.get(headings.question, ""),
        conversation=(),
        layers=_layers(sections.get(headings.points, NONE)),
        resolved=frozenset(),
        nodes=[_node(number, said) for number, said in details.items()],
    )
    target = route(situation)
    return json.dumps({"target": target.aim, "detail": int(target.node) if target.node else None})


def _layers(text: str) -> list[Layer]:
    points = [json.loads(line) for line in text.splitlines() if line != NONE]
    return [
        Layer(
            label=point["point"],
            term=point["about"],
            question=point["question"],
            answer=point["the user means"],
            alternative=point["and not"],
        )
        for point in points
    ]


def _node(number: str, said: str) -> Node:
    """Return a detail with its number for a label; its clause shows in how it begins."""
    clause = next((name for opening, name in _OPENINGS.items() if said.startswith(opening)), "where")
    return Node(number, Commitment((), clause, said, said, (), clause), said)  # pyright: ignore[reportArgumentType]


def _sections(text: str) -> dict[str, str]:
    parts = (part.partition("\n") for part in f"\n{text}".split("\n## ")[1:])
    return {title: body.strip("\n") for title, _, body in parts}
